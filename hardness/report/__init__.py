"""What people look at: words, figures, the page."""
