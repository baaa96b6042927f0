from nx_fastonl import datasets as datasets
from nx_fastonl import experiments as experiments
from nx_fastonl import plotting as plotting
from nx_fastonl.certificates import CertifiedLabel as CertifiedLabel
from nx_fastonl.fifo import PushInfo as PushInfo
from nx_fastonl.fifo import fifo_push as fifo_push
from nx_fastonl.graph import CSRGraph as CSRGraph
from nx_fastonl.kernels import KernelInfo as KernelInfo
from nx_fastonl.kernels import kernel_column as kernel_column
from nx_fastonl.kernels import kernel_matrix as kernel_matrix
from nx_fastonl.online import OnlineNodeLabeler as OnlineNodeLabeler
from nx_fastonl.online import online_node_labeling as online_node_labeling
from nx_fastonl.pagerank import PageRankInfo as PageRankInfo
from nx_fastonl.pagerank import personalized_pagerank_local as personalized_pagerank_local
from nx_fastonl.pagerank import ppr_matrix as ppr_matrix
from nx_fastonl.regret import labeling_cut as labeling_cut
from nx_fastonl.regret import regret_bound as regret_bound
from nx_fastonl.sequence import LabelSequence as LabelSequence

__all__ = [
    "CSRGraph",
    "CertifiedLabel",
    "KernelInfo",
    "LabelSequence",
    "OnlineNodeLabeler",
    "PageRankInfo",
    "PushInfo",
    "__version__",
    "datasets",
    "experiments",
    "fifo_push",
    "kernel_column",
    "kernel_matrix",
    "labeling_cut",
    "online_node_labeling",
    "personalized_pagerank_local",
    "plotting",
    "ppr_matrix",
    "regret_bound",
]
__version__: str
