"""Against other packages as pip installs them, answers asserted."""
