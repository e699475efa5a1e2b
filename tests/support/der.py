"""DER (ITU-T X.690), written one value at a time: as much of it as signed documents need."""


def tlv(tag: int, *parts: bytes) -> bytes:
    """Write one value: its tag, the length in the shortest form, its content."""
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + body


def integer(value: int) -> bytes:
    return tlv(0x02, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    body = bytearray([first * 40 + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(0x80 | number & 0x7F)
        body += bytes(reversed(digits))
    return tlv(0x06, bytes(body))


def octets(*parts: bytes) -> bytes:
    return tlv(0x04, *parts)


def sequence(*parts: bytes) -> bytes:
    return tlv(0x30, *parts)


def set_of(*parts: bytes) -> bytes:
    return tlv(0x31, *sorted(parts))


def explicit(*parts: bytes) -> bytes:
    return tlv(0xA0, *parts)


def utf8(text: str) -> bytes:
    return tlv(0x0C, text.encode())
