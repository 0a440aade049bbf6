"""FedInit (Sun, Shen, Tao): its claims, by section; each module's docstring names its part."""
