"""The few messages of the protocol that our programs speak themselves, in plain Python: metadata of a table and fetches of whole batches."""

import socket
import struct

GET_METADATA, FETCH_LOG = 1012, 1015

_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ (0x82F63B78 if _crc & 1 else 0)
    _TABLE.append(_crc)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def decode(data):
    """{field: [values]}; a number, or bytes."""
    fields, at = {}, 0

    def read_varint():
        nonlocal at
        shift = result = 0
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    while at < len(data):
        tag = read_varint()
        kind = tag & 7
        if kind == 0:
            value = read_varint()
        elif kind == 2:
            size = read_varint()
            value = data[at:at + size]
            at += size
        else:
            size = {1: 8, 5: 4}[kind]
            value = data[at:at + size]
            at += size
        fields.setdefault(tag >> 3, []).append(value)
    return fields


class Refused(Exception):
    """An error of the server: code and message."""

    def __init__(self, code, message):
        super().__init__(f"error {code}: {message}")
        self.code, self.message = code, message


class Connection:
    def __init__(self, host, port, timeout=20):
        self.socket = socket.create_connection((host, port), timeout)
        self.requests = 0

    def close(self):
        self.socket.close()

    def _read(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
        return bytes(data)

    def call(self, api, body):
        self.requests += 1
        frame = struct.pack(">hhi", api, 0, self.requests) + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", self._read(4))
        answer = self._read(size)
        kind, request = struct.unpack(">Bi", answer[:5])
        if kind != 0 or request != self.requests:
            error = decode(answer[5:])
            raise Refused(error.get(1, [0])[0], error.get(2, [b""])[0].decode())
        return decode(answer[5:])

    def table(self, database, name):
        """(table id, number of buckets)"""
        answer = self.call(GET_METADATA, piece(1, piece(1, database.encode()) + piece(2, name.encode())))
        table = decode(answer[3][0])
        return table[2][0], len(table.get(5, []))

    def tablet_server(self):
        """(host, port) of the only one."""
        node = decode(self.call(GET_METADATA, b"")[2][0])
        return node[2][0].decode(), node[3][0]

    def fetch(self, table, bucket, offset):
        """(bytes of whole batches, high watermark) of one fetch that does not wait."""
        wanted = number(2, bucket) + number(3, offset) + number(4, 16 << 20)
        body = number(1, -1) + number(2, 16 << 20) + piece(3, number(1, table) + number(2, 0) + piece(4, wanted)) + number(4, 0)
        answer = self.call(FETCH_LOG, body)
        found = decode(decode(answer[1][0])[2][0])
        if found.get(3, [0])[0] != 0:
            raise Refused(found[3][0], found.get(4, [b""])[0].decode())
        return found.get(8, [b""])[0], found[5][0]

    def batches(self, table, bucket):
        """All committed batches of a bucket, each as it came."""
        out, offset = [], 0
        while True:
            records, watermark = self.fetch(table, bucket, offset)
            for batch in split(records):
                out.append(batch)
                offset = next_offset(batch)
            if offset >= watermark or not records:
                return out, watermark


def split(records):
    """The batches of a fetched range."""
    out, at = [], 0
    while at + 12 <= len(records):
        size = 12 + struct.unpack_from("<i", records, at + 8)[0]
        out.append(records[at:at + size])
        at += size
    return out


def _crc_place(batch):
    return 25 if batch[12] == 2 else 21


def next_offset(batch):
    """Of a batch: its base offset, and its last offset delta, which lies 7 bytes behind the CRC's end."""
    return struct.unpack_from("<q", batch)[0] + struct.unpack_from("<i", batch, _crc_place(batch) + 7)[0] + 1


def crc_holds(batch):
    place = _crc_place(batch)
    return len(batch) > place + 4 and struct.unpack_from("<I", batch, place)[0] == crc32c(batch[place + 4:])


def without_stamp(batch):
    """A batch without what its CRC does not cover but its offset: the commit time and the leader epoch."""
    return batch[:13] + batch[_crc_place(batch):]
