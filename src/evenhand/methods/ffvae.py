"""FFVAE: a code whose sensitive part is known, so that it can be taken out before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.ffvae_terms import (
    Layout,
    Posterior,
    attribute_loss,
    discriminator_loss,
    divergence,
    needed,
    noise_of_rows,
    permuted,
    reconstruction_loss,
    sampled,
)
from evenhand.methods.fields import choice, number, text
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import probabilities, row_losses
from evenhand.nets.head import Head
from evenhand.nets.vae import FORMS, decoder_of, encoder_of, form_of
from evenhand.records import Batch, Needs, NoiseSpec, Out, Phase, Sizes, State


@dataclass(frozen=True)
class FFVAE(Method):
    """Flexibly fair variational autoencoder: a code (z, b), and a classifier that is not shown b.

    Objective of the encoder and the decoder, in the first phase ("represent"): `-E log p(x|z,b) +
    KL(q(z|x) || N(0,I)) + alpha mean_j BCE(b_j, a_j) + gamma mean_i (D_0(z_i,b_i) - D_1(z_i,b_i))`. b has one
    logit for each protected attribute (one for each level where there are more than two), neither sampled nor
    in the KL; z is the rest of the `latent` numbers. The last term estimates the total correlation of z and
    all b_j: the discriminator D minimises `(CE(D(z,b), 0) + CE(D(z',b'), 1)) / 2`, where z' (as one block)
    and each b'_j are shuffled over the batch, on codes that carry no gradient to the encoder. Both move on
    each batch, by the same codes. Reconstruction is half the squared error summed over inputs: of images
    `(x + 1) / 2` (in [0, 1] where inputs are scaled to [-1, 1]) against a sigmoid, of tables x as it is
    against a linear decoder.

    Objective of the model, in the second phase ("classify"): the mean loss of `h(E[z|x], b)` with encoder and
    decoder at rest. The model reads the code, so the network of a run must take a vector (mlp, widths 32 and
    32 for S3's). The b of the attributes in `without` are 0 there, in training and in prediction; with
    `removal="noise"` they are N(0, 1) numbers, fresh in training and made of the row's own inputs in
    prediction, so that a prediction can be repeated.

    The model reads means of z while D reads draws from its posterior: means may tell an attribute that draws
    drown in noise. `evenhand.methods.ffvae_probes.audit_code` measures both.

    Needs groups in training. A row whose level of an attribute is unknown is left out of that BCE only.

    S3's code decodes half of the code (the rest goes to the classifier untrained), has linear convolutions
    (a slope of 1) and lets the discriminator's gradient into the encoder; here the whole code is used, the
    slope is 0.01. It also stops the first phase by two counters on validation; here `represent_epochs` is its
    length, so that the runs of a stack stay together.

    >>> problem = Problem.from_labels([0, 1], g=[0, 1], inputs=(3, 32, 32))
    >>> method = FFVAE(alpha=1000.0)
    >>> method.check(problem)
    >>> method.model_inputs(problem), [phase.name for phase in method.phases()]
    ((16,), ['represent', 'classify'])
    >>> sorted(method.extra(problem, 0))
    ['decoder', 'discriminator', 'encoder']
    """

    key: ClassVar[str] = "ffvae"
    title: ClassVar[str] = "Flexibly fair variational autoencoder"
    citation: ClassVar[str] = (
        "Creager et al., Flexibly fair representation learning by disentanglement, ICML 2019"
    )
    needs: ClassVar[Needs] = Needs(groups=True, separate_losses=True)
    adversarial: ClassVar[bool] = True

    alpha: float = number(100.0, "weight of the attributes in their own latents", search=(10.0, 1000.0))
    gamma: float = number(10.0, "weight of the total correlation of z and b", search=(10.0, 100.0))
    latent: int = number(16, "numbers of the code: b and z together", at_least=2)
    form: str = choice("auto", FORMS, "encoder and decoder; auto: convolutions for images")
    hidden: int = number(128, "width of the encoder's and the decoder's hidden layers", at_least=1)
    layers: int = number(1, "hidden layers of encoder and decoder in the form mlp", at_least=1)
    critic: int = number(32, "width of the discriminator's hidden layers", at_least=1)
    critic_layers: int = number(2, "hidden layers of the discriminator", at_least=1)
    represent_epochs: int = number(30, "epochs of the first phase", at_least=1)
    without: str = text(
        "all", "all, none, or places such as 0,2", "protected attributes whose b is taken out of the code"
    )
    removal: str = choice("delete", ("delete", "noise"), "a b that is taken out is 0, or N(0, 1) noise")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The model's loss on codes that do not move, or the losses of autoencoder and discriminator."""
        if nets.phase != "represent":
            logits, _ = nets["model"](self.code(nets, batch))
            return Out({"model": row_losses(logits, batch.y).mean()}, state)
        layout, x = self.layout(nets.sizes), _seen(batch.x, nets.sizes)
        posterior = self.encode(nets, batch.x)
        code = sampled(posterior, needed(batch.noise, "latent"))
        decoded = nets["decoder"](code)
        told = nets.at_rest("discriminator")(code)
        terms = {
            "reconstruction": reconstruction_loss(_shown(decoded, nets.sizes), x),
            "divergence": divergence(posterior),
            "attributes": attribute_loss(posterior.b, _attributes(batch), layout),
            "correlation": (told[:, 0] - told[:, 1]).mean(),
            "discriminator": self.told_apart(nets, code.detach(), batch.noise),
        }
        total = terms["reconstruction"] + terms["divergence"]
        total = total + self.alpha * terms["attributes"] + self.gamma * terms["correlation"]
        return Out({"vae": total, "discriminator": terms["discriminator"]}, state, terms)

    def told_apart(self, nets: Nets, code: Tensor, noise: Mapping[str, Tensor]) -> Tensor:
        """The discriminator's loss on codes and on the same codes shuffled."""
        shuffled = permuted(code, self.layout(nets.sizes), noise)
        discriminate = nets["discriminator"]
        return discriminator_loss(discriminate(code), discriminate(shuffled))

    def encode(self, nets: Nets, x: Tensor) -> Posterior:
        """What the encoder says of inputs as a batch has them."""
        return self.layout(nets.sizes).posterior(nets["encoder"](_seen(x, nets.sizes)))

    def code(self, nets: Nets, batch: Batch, *, training: bool = True) -> Tensor:
        """What the model reads `[B, latent]`: posterior means and b, less what is taken out."""
        layout = self.layout(nets.sizes)
        make = self.prepare if training else self._made  # predictions have a gradient for their inputs
        made = batch.x if nets.prepared else make(nets, batch)
        mean, b = made[:, : layout.n_z], made[:, layout.n_z : self.latent]
        stand_in = None
        if self.removal == "noise":
            stand_in = needed(batch.noise, "stand_in") if training else made[:, self.latent :]
        return torch.cat([mean, layout.without(b, self.places(nets.sizes), stand_in)], dim=-1)

    def prepare(self, nets: Nets, batch: Batch) -> Tensor:
        """Posterior means and b, and the row's own noise where that may stand in for b; no gradient."""
        with torch.no_grad():
            return self._made(nets, batch)

    def _made(self, nets: Nets, batch: Batch) -> Tensor:
        mean, _, b = self.encode(nets, batch.x)
        noise = [noise_of_rows(batch.x, b.shape[1])] if self.removal == "noise" else []
        return torch.cat([mean, b, *noise], dim=-1)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The model's scores of codes without the b that are taken out: the same whenever a row is seen."""
        logits, _ = nets["model"](self.code(nets, batch, training=False))
        return probabilities(logits, nets.sizes)

    def layout(self, sizes: Sizes) -> Layout:
        """Where z and each attribute's b are in a code."""
        return Layout(self.latent, sizes.n_levels)

    def places(self, sizes: Sizes) -> tuple[int, ...]:
        """The attributes whose b is taken out, by their place among the protected ones."""
        if self.without in ("all", "none"):
            return tuple(range(len(sizes.n_levels))) if self.without == "all" else ()
        texts = [text.strip() for text in self.without.split(",")]
        found = tuple(int(text) for text in texts if text.isdecimal())
        if len(found) != len(texts) or max(found) >= len(sizes.n_levels):
            last = len(sizes.n_levels) - 1
            raise InputError(
                f"'without' of 'ffvae' must be all, none, or places of protected attributes (0 to {last}) "
                f"such as '0,1', not {self.without!r}"
            )
        return found

    def model_inputs(self, problem: Problem) -> tuple[int, ...]:
        """The model reads the code."""
        return (self.latent,)

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """Encoder, decoder, and the discriminator between codes and shuffled codes."""
        shape, how = problem.sizes.inputs, {"hidden": self.hidden, "layers": self.layers}
        widths = (self.critic,) * self.critic_layers
        return {
            "encoder": encoder_of(shape, self.layout(problem.sizes).encoded, form=self.form, **how),
            "decoder": decoder_of(shape, self.latent, form=self.form, **how),
            "discriminator": Head(self.latent, 2, widths, activation="leaky_relu", init="xavier"),
        }

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """The autoencoder, the discriminator, and the model on their code."""
        return {"vae": ("encoder", "decoder"), "discriminator": ("discriminator",), "model": ("model",)}

    def phases(self) -> tuple[Phase, ...]:
        """The code first, then the model on it."""
        together = (("vae", "discriminator"),)
        first = Phase("represent", together, epochs=self.represent_epochs, select=False)
        return first, Phase("classify", prepared=True)

    def noise(self, problem: Problem) -> dict[str, NoiseSpec]:
        """For the sample of z, the shuffles, and what stands in for b in training."""
        layout = self.layout(problem.sizes)
        names = ["order_z", *(f"order_b{place}" for place in range(len(layout.blocks)))]
        specs = {"latent": NoiseSpec("normal", (layout.n_z,), phases=("represent",))}
        specs |= {name: NoiseSpec("permutation", phases=("represent",)) for name in names}
        if self.removal == "noise":
            specs["stand_in"] = NoiseSpec("normal", (layout.n_b,), phases=("classify",))
        return specs

    def check(self, problem: Problem) -> None:
        """Refuse a code without room for z, a form that does not fit, attributes that are not there."""
        super().check(problem)
        form_of(problem.sizes.inputs, self.form)
        self.places(problem.sizes)
        layout = self.layout(problem.sizes)
        if layout.n_z < 1:
            raise InputError(
                f"the protected attributes take {layout.n_b} numbers of the code of 'ffvae', whose 'latent' "
                f"is {self.latent}: nothing is left for z"
            )


def _seen(x: Tensor, sizes: Sizes) -> Tensor:
    """Inputs as the encoder reads them and the decoder gives them: images in [0, 1], tables as they are."""
    return (x + 1) / 2 if len(sizes.inputs) == 3 else x


def _shown(decoded: Tensor, sizes: Sizes) -> Tensor:
    return torch.sigmoid(decoded) if len(sizes.inputs) == 3 else decoded


def _attributes(batch: Batch) -> Tensor:
    if batch.a is None:
        raise InputError("the method 'ffvae' looks at each attribute: give their codes as Batch(a=...)")
    return batch.a
