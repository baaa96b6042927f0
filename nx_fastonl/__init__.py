"""Local graph diffusion and online node labelling for NetworkX."""

from nx_fastonl._lib.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Answer": "labeling.replay",
        "CSRGraph": "graph.csr",
        "Calibration": "labeling.calibration",
        "CertifiedLabel": "labeling.certificates",
        "Compatibility": "labeling.compatibility",
        "DurableGraph": "labeling.durable",
        "DynamicGraph": "graph.dynamic",
        "DynamicPageRank": "push.dynamic_pagerank",
        "KernelInfo": "kernels.functions",
        "LabelSequence": "labeling.sequence",
        "OnlineNodeLabeler": "labeling.labeler",
        "PageRankInfo": "push.pagerank",
        "PushInfo": "push.fifo",
        "Replay": "labeling.replay",
        "fifo_push": "push.fifo",
        "kernel_column": "kernels.functions",
        "kernel_matrix": "kernels.functions",
        "labeling_cut": "labeling.regret",
        "online_node_labeling": "labeling.stream",
        "personalized_pagerank_local": "push.pagerank",
        "ppr_matrix": "push.pagerank",
        "regret_bound": "labeling.regret",
        "replay": "labeling.replay",
        "datasets": "datasets",
        "experiments": "experiments",
        "plotting": "plotting",
        "__version__": "_lib.version",
    },
)
