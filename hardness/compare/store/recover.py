"""stub."""


def survey(path):
    return {}
