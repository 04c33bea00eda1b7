"""Write the latent correlations of the `faces` world: `python tools/make_faces_copula.py`.

Fitted to the packaged statistics in a second. Another processor may give other last digits, so the file is
packaged: everybody draws the same faces. Paste the printed line into CHECKSUMS of evenhand/data/cache.py when
the content changes; a test fits the matrix again and compares.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from evenhand.data.cache import FOLDER, sha256
from evenhand.data.faces_copula import DIGITS, FILE, fitted_matrix, phi_matrix
from evenhand.data.faces_statistics import celeba_statistics


def main(path: Path = FOLDER / FILE) -> None:
    """Write the file, print how near its phi are, and the line for the table of checksums."""
    statistics = celeba_statistics()
    latent = fitted_matrix(statistics)
    rows = [[round(float(rho), DIGITS) for rho in latent[i, :i]] for i in range(1, len(latent))]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    names = json.dumps(statistics.names, separators=(",", ":"))
    text = f'{{"attributes":{names},\n"below_the_diagonal":[\n{lines}\n]}}\n'
    path.write_text(text, encoding="utf-8")
    error = np.abs(phi_matrix(latent, statistics.rates) - statistics.phi)[np.triu_indices(len(latent), 1)]
    print(f"phi: mean absolute error {error.mean():.4f}, largest {error.max():.4f}")
    print(f'    "{path.name}": "{sha256(path)}",')


if __name__ == "__main__":
    main()
