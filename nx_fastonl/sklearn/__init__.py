"""Estimators of scikit-learn on graphs. Needs scikit-learn."""

from nx_fastonl._lib.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, {"NodeClassifier": "classifier"})
