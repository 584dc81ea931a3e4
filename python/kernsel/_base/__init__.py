"""What every room uses: annotations, errors, threads, the configuration of the build."""
