"""Classic theorems of federated learning, local SGD and stability, one module per source.

``field_guide`` (Wang et al. 2021), ``li`` (Li et al. 2020), ``local_gd`` and ``local_sgd`` (Khaled et al. 2019),
``one_machine`` (Bottou et al. 2018, Needell et al. 2014), ``stability`` (Hardt et al. 2016), ``fedprox`` (Li et al.
2020), ``scaffold`` (Karimireddy et al. 2020), ``others`` (FedNova 2020, ProxSkip 2022). The letters at the top of each
module are its notation table; ``common`` has shared parts.
"""
