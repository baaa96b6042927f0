"""What scikit-learn asks of every estimator."""

import numpy as np
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from nx_fastonl.sklearn import NodeClassifier

# Checks that hold for no classifier of this kind, with the reason.
EXPECTED_FAILED_CHECKS = {
    "check_classifiers_classes": "after texts as labels, it asks for -1 and 1, and -1 stands for an unknown label",
    "check_methods_subset_invariance": "the rows of fit are its nodes; some of them alone are nodes that join",
    "check_methods_sample_order_invariance": "the rows of fit are its nodes; in another order they are nodes that join",
}
ESTIMATORS = [NodeClassifier(), NodeClassifier("fastonl")]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_checks_that_are_left_out_exist():
    names = {
        getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(NodeClassifier(), legacy=True)
    }
    assert set(EXPECTED_FAILED_CHECKS) <= names
    assert len(names) > 45


def test_what_is_left_out_of_the_checks_of_classes_holds_for_other_labels():
    rng = np.random.default_rng(0)
    X, blobs = rng.random((30, 30)), np.arange(30) % 3
    X = (X + X.T) * (1.0 + 9.0 * np.equal.outer(blobs, blobs))
    for names in (np.array(["one", "two", "three"]), np.array([-2, 5, 1]), np.array(["c", "b", "a"], dtype=object)):
        for classifier in (NodeClassifier(), NodeClassifier("fastonl")):
            y = names[blobs]
            assert (classifier.fit(X, y).predict(X) == y).all()
            assert classifier.classes_.tolist() == sorted(names.tolist())


def test_what_is_left_out_of_the_checks_of_rows_holds_for_nodes_that_join():
    rng = np.random.default_rng(1)
    X, y, new = rng.random((20, 20)), np.arange(20) % 3, rng.random((12, 20))
    order = rng.permutation(12)
    for method in ("predict", "predict_proba"):
        answer = getattr(NodeClassifier(direction="ignore").fit(X, y), method)
        whole = answer(new)
        np.testing.assert_allclose(answer(new[order]), whole[order], atol=1e-9)
        np.testing.assert_allclose(np.concatenate([answer(new[i : i + 1]) for i in range(12)]), whole, atol=1e-9)
