"""Writes recordings as an attacker could write them, with valid check sums. src/recording/format.h describes the
format."""

SIGNATURE = b"RTRK\x01\r\n\x1a"
SYNC = b"\xb5rtk"
START, SAMPLE, THINNED, STATE, END, MARK = range(1, 7)
GPUS, GPU_ROW = 9, 10
PROGRAMS, LINE_NAMES, LINE_COUNTS, LINE_STATE = 16, 20, 21, 22


def _table():
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
        yield crc


TABLE = list(_table())


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(len(value)) + value


def frame(kind, payload):
    head = bytes([kind, 0]) + len(payload).to_bytes(4, "little")
    return SYNC + head + crc32c(head + payload).to_bytes(4, "little") + payload


def frames(data):
    """The records of a recording: (type, payload)."""
    at = len(SIGNATURE)
    while at < len(data):
        assert data[at:at + 4] == SYNC
        length = int.from_bytes(data[at + 6:at + 10], "little")
        yield data[at + 4], data[at + 14:at + 14 + length]
        at += 14 + length


def with_text(data, old, new):
    """The recording with `new` where a record has the text `old`, lengths included."""
    return SIGNATURE + b"".join(frame(kind, payload.replace(text(old), text(new)))
                                for kind, payload in frames(data))


def with_records(data, records):
    """The recording with further records before its end."""
    out = [SIGNATURE]
    for kind, payload in frames(data):
        if kind == END:
            out += [frame(*record) for record in records]
        out.append(frame(kind, payload))
    return b"".join(out)
