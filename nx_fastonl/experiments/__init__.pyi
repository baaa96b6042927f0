from nx_fastonl.experiments.base import Experiment as Experiment
from nx_fastonl.experiments.catalog import EXPERIMENTS as EXPERIMENTS
from nx_fastonl.experiments.catalog import run as run
from nx_fastonl.experiments.catalog import summary as summary

__all__ = ["EXPERIMENTS", "Experiment", "run", "summary"]
