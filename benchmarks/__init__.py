"""Side by side with other libraries: one run, ratios, best of several."""
