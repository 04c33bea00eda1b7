"""Make the packaged Titanic predictions: several models, every passenger predicted while held out.

Who survived is predicted from class, age, relatives aboard, fare and port; `sex` is kept out of the
features and kept in the file, so that an audit can ask how the models treat it all the same.
Imputation and scaling are fitted inside each fold: a held-out passenger never informs the model that
predicts them. Scores are rounded to four decimals and the prediction is made from the rounded score,
so that a reader of the file finds the two consistent.

Run from the root of the repository (needs the `dev` extra):

    python examples/make_titanic_predictions.py                 # rewrites the packaged files
    python examples/make_titanic_predictions.py --out /tmp/t    # or writes them elsewhere
"""

from __future__ import annotations

import argparse
import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from evenhand.data.cache import packaged

NUMBERS = ["pclass", "age", "sibsp", "parch", "fare"]
CATEGORIES = ["embarked"]
FOLDS = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)  # the file is sorted by class: shuffle
RUNS = 5  # trainings of the network that differ in their seed alone
PAIR = ("boosting", "small")  # also written one file per model, the way two teams would hand them over
PACKAGED_FILES = Path(__file__).parents[1] / "src" / "evenhand" / "data" / "files"


def passengers() -> pd.DataFrame:
    """The 1,309 passengers, numbered from 1 in the order of the original file."""
    table = pd.read_csv(packaged("titanic.csv.gz"))
    table.insert(0, "passenger", np.arange(1, len(table) + 1))
    return table


def age_group(age: pd.Series) -> pd.Series:
    """Child under 16, senior from 60; an age that nobody wrote down stays unknown."""
    bands = pd.cut(age, [0, 16, 60, np.inf], right=False, labels=["child", "adult", "senior"])
    return bands.astype(object)


def network(seed: int) -> ClassifierMixin:
    """A small neural network; a smooth activation keeps rounding noise from growing while it trains."""
    return MLPClassifier((16, 16), activation="tanh", alpha=0.01, max_iter=150, tol=0.0, random_state=seed)


def models() -> dict[str, ClassifierMixin]:
    """The classifiers to compare, by name; `small` is the cheap stand-in for `boosting`."""
    return {
        "logistic": LogisticRegression(max_iter=1000),
        "boosting": GradientBoostingClassifier(random_state=0),
        "small": DecisionTreeClassifier(max_depth=2, random_state=0),
        "mlp": network(seed=0),
    }


def with_imputation(model: ClassifierMixin) -> Pipeline:
    """The model behind the preparation that every model shares, fitted on the training folds only."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    return make_pipeline(make_column_transformer((numbers, NUMBERS), (categories, CATEGORIES)), model)


def held_out_scores(model: ClassifierMixin, table: pd.DataFrame) -> np.ndarray:
    """The probability of survival given to each passenger by the model that did not see them."""
    features, survived = table[NUMBERS + CATEGORIES], table["survived"]
    with warnings.catch_warnings():
        # The network trains for a fixed number of epochs on purpose, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        folds = cross_val_predict(
            with_imputation(model), features, survived, cv=FOLDS, method="predict_proba"
        )
    return np.round(folds[:, 1], 4)


def predictions_table(table: pd.DataFrame) -> pd.DataFrame:
    """One row per passenger; a prediction and a score column per model."""
    wide = table[["passenger", "sex", "pclass", "embarked"]].copy()
    wide["age_group"] = age_group(table["age"])
    wide["survived"] = table["survived"]
    for name, model in models().items():
        scores = held_out_scores(model, table)
        wide[f"{name}_prediction"] = (scores > 0.5).astype(int)
        wide[f"{name}_score"] = scores
    return wide


def one_model_table(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one model alone, with plain `prediction` and `score` columns."""
    described = wide[["passenger", "sex", "pclass", "embarked", "age_group", "survived"]]
    return described.assign(prediction=wide[f"{name}_prediction"], score=wide[f"{name}_score"])


def runs_table(table: pd.DataFrame) -> pd.DataFrame:
    """One row per passenger and training run of the network."""
    parts = []
    for seed in range(RUNS):
        run = table[["passenger", "sex", "survived"]].copy()
        run.insert(0, "run", seed)
        scores = held_out_scores(network(seed), table)
        run["prediction"] = (scores > 0.5).astype(int)
        run["score"] = scores
        parts.append(run)
    return pd.concat(parts, ignore_index=True)


def write_gzip(table: pd.DataFrame, path: Path) -> None:
    """A CSV file in gzip without name or time stamp: the same table gives the same bytes."""
    text = table.to_csv(index=False, lineterminator="\n")
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as packed:
        packed.write(text.encode("utf-8"))
    path.write_bytes(buffer.getvalue())


def all_tables() -> dict[str, pd.DataFrame]:
    """Every table that is packaged, by file name."""
    table = passengers()
    wide = predictions_table(table)
    pair = {f"titanic_{name}.csv.gz": one_model_table(wide, name) for name in PAIR}
    return {"titanic_predictions.csv.gz": wide, **pair, "titanic_runs.csv.gz": runs_table(table)}


def write_all(folder: Path) -> list[Path]:
    """Write every table into the folder; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in all_tables().items():
        write_gzip(table, folder / name)
        paths.append(folder / name)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the packaged Titanic predictions.")
    parser.add_argument("--out", type=Path, default=PACKAGED_FILES, help="folder to write the files to")
    for written in write_all(parser.parse_args().out):
        print(f"{written}  {written.stat().st_size:,} bytes")
