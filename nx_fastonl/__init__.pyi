from nx_fastonl import datasets as datasets
from nx_fastonl import experiments as experiments
from nx_fastonl import plotting as plotting
from nx_fastonl import sklearn as sklearn
from nx_fastonl._lib.version import __version__ as __version__
from nx_fastonl.batch.jobs import Shard as Shard
from nx_fastonl.batch.jobs import shards as shards
from nx_fastonl.batch.matrix import SavedMatrix as SavedMatrix
from nx_fastonl.batch.matrix import open_matrix as open_matrix
from nx_fastonl.graph.csr import CSRGraph as CSRGraph
from nx_fastonl.graph.dynamic import DynamicGraph as DynamicGraph
from nx_fastonl.kernels.functions import KernelInfo as KernelInfo
from nx_fastonl.kernels.functions import kernel_column as kernel_column
from nx_fastonl.kernels.matrix import kernel_matrix as kernel_matrix
from nx_fastonl.labeling.calibration import Calibration as Calibration
from nx_fastonl.labeling.certificates import CertifiedLabel as CertifiedLabel
from nx_fastonl.labeling.compatibility import Compatibility as Compatibility
from nx_fastonl.labeling.durable import DurableGraph as DurableGraph
from nx_fastonl.labeling.labeler import OnlineNodeLabeler as OnlineNodeLabeler
from nx_fastonl.labeling.regret import labeling_cut as labeling_cut
from nx_fastonl.labeling.regret import regret_bound as regret_bound
from nx_fastonl.labeling.replay import Answer as Answer
from nx_fastonl.labeling.replay import Replay as Replay
from nx_fastonl.labeling.replay import replay as replay
from nx_fastonl.labeling.sequence import LabelSequence as LabelSequence
from nx_fastonl.labeling.stream import online_node_labeling as online_node_labeling
from nx_fastonl.push.community import LocalCommunity as LocalCommunity
from nx_fastonl.push.community import local_community as local_community
from nx_fastonl.push.dynamic_pagerank import DynamicPageRank as DynamicPageRank
from nx_fastonl.push.fifo import PushInfo as PushInfo
from nx_fastonl.push.fifo import fifo_push as fifo_push
from nx_fastonl.push.matrix import ppr_matrix as ppr_matrix
from nx_fastonl.push.pagerank import PageRankInfo as PageRankInfo
from nx_fastonl.push.pagerank import personalized_pagerank_local as personalized_pagerank_local
from nx_fastonl.push.resistance import ResistanceInfo as ResistanceInfo
from nx_fastonl.push.resistance import effective_resistance as effective_resistance
from nx_fastonl.push.sweep import SweepCut as SweepCut
from nx_fastonl.push.sweep import SweepProfile as SweepProfile
from nx_fastonl.push.sweep import sweep_cut as sweep_cut

__all__ = [
    "Answer",
    "CSRGraph",
    "Calibration",
    "CertifiedLabel",
    "Compatibility",
    "DurableGraph",
    "DynamicGraph",
    "DynamicPageRank",
    "KernelInfo",
    "LabelSequence",
    "LocalCommunity",
    "OnlineNodeLabeler",
    "PageRankInfo",
    "PushInfo",
    "Replay",
    "ResistanceInfo",
    "SavedMatrix",
    "Shard",
    "SweepCut",
    "SweepProfile",
    "__version__",
    "datasets",
    "effective_resistance",
    "experiments",
    "fifo_push",
    "kernel_column",
    "kernel_matrix",
    "labeling_cut",
    "local_community",
    "online_node_labeling",
    "open_matrix",
    "personalized_pagerank_local",
    "plotting",
    "ppr_matrix",
    "regret_bound",
    "replay",
    "shards",
    "sklearn",
    "sweep_cut",
]
