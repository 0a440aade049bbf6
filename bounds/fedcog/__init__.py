"""FedCOG: the steps of the proof (``proof``), the method with its theorem (``method``), integer label counts
(``labels``)."""
