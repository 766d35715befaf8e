"""The functions of `import hardness`: plain Python, one file a subject; none knows of a screen."""
