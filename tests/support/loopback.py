"""Bring `lo` up in a fresh network namespace; no program but Python is needed for it."""

import fcntl
import socket
import struct

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
    request = struct.pack("16sh", b"lo", 0)
    name, flags = struct.unpack("16sh", fcntl.ioctl(handle, SIOCGIFFLAGS, request))
    fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh", name, flags | IFF_UP))
