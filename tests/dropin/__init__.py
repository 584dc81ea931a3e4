"""scikit-learn's own tests, with our classes in the place of theirs."""
