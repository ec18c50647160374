"""What PyTorch says of the Triton that it is used with, for code bases that have no PyTorch beside them.

A kernel is there to be run: Triton is installed, and the device is the one that the kernel is analysed for.
"""

import torch


def has_triton_package():
    return True


def has_triton():
    return True


def has_triton_tma():
    return torch.cuda.get_device_capability() >= (9, 0)


def has_triton_tma_device():
    return torch.cuda.get_device_capability() >= (9, 0)


def has_triton_experimental_host_tma():
    return torch.cuda.get_device_capability() >= (9, 0)


def has_triton_tensor_descriptor_host_tma():
    return torch.cuda.get_device_capability() >= (9, 0)


def has_triton_stable_tma_api():
    return torch.cuda.get_device_capability() >= (9, 0)


def has_datacenter_blackwell_tma_device():
    return torch.cuda.get_device_capability() >= (10, 0)


def __getattr__(name):
    # What is not written above is not followed, and is not missing either.
    return getattr(torch.utils, "_triton." + name)
