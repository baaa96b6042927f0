from nx_fastonl.sklearn.classifier import NodeClassifier as NodeClassifier

__all__ = ["NodeClassifier"]
