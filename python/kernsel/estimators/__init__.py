"""The models, with the manners of scikit-learn: one file each."""
