from nx_fastonl.fifo import PushInfo as PushInfo
from nx_fastonl.fifo import fifo_push as fifo_push
from nx_fastonl.graph import CSRGraph as CSRGraph
from nx_fastonl.pagerank import PageRankInfo as PageRankInfo
from nx_fastonl.pagerank import personalized_pagerank_local as personalized_pagerank_local
from nx_fastonl.pagerank import ppr_matrix as ppr_matrix

__all__ = [
    "CSRGraph",
    "PageRankInfo",
    "PushInfo",
    "__version__",
    "fifo_push",
    "personalized_pagerank_local",
    "ppr_matrix",
]
__version__: str
