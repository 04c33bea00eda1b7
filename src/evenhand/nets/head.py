"""Head: a small network on top of features, such as an adversary or a second classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from evenhand.nets.mlp import MLP
from evenhand.records import NoiseSpec


class Head(nn.Module):
    """Outputs `[B, outputs]` for features `z [B, ...]`, to which further numbers a row may be appended.

    `inputs` counts both: an adversary that sees 16 features and the label has 17. The options are those of
    `MLP`; no width at all is a linear head.

    >>> adversary = Head(17, 1, widths=(32, 32), activation="leaky_relu")
    >>> adversary(torch.zeros(8, 16), torch.ones(8)).shape
    torch.Size([8, 1])
    """

    stackable = True

    def __init__(
        self,
        inputs: int,
        outputs: int,
        widths: Sequence[int] = (),
        *,
        activation: str = "relu",
        slope: float = 0.01,
        dropout: float = 0.0,
        init: str = "default",
        legacy_activation: bool = False,
    ) -> None:
        super().__init__()
        self.body = MLP(
            inputs, outputs, widths, activation=activation, slope=slope, dropout=dropout, init=init,
            legacy_activation=legacy_activation,
        )  # fmt: skip

    def noise(self) -> dict[str, NoiseSpec]:
        """The random numbers wanted for each row, as of `MLP`."""
        return self.body.noise()

    def forward(
        self, z: Tensor, extra: Tensor | None = None, noise: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Outputs for features and the numbers beside them: `extra` is `[B]` or `[B, k]` of any type."""
        if extra is not None:
            beside = extra if extra.ndim > 1 else extra[:, None]
            z = torch.cat([z.flatten(1), beside.to(z.dtype)], dim=1)
        logits, _ = self.body(z, noise)
        return logits  # type: ignore[no-any-return]
