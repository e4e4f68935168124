"""Decodes answers of a node as web3.py does, with the standard library alone: the forms of web3/_utils/method_formatters.py.
Prints what is refused; the exit code is 1 where anything is.

    python3 web3py.py http://127.0.0.1:4444
"""

import json
import re
import sys
import urllib.request

URL = sys.argv[1]
failed = []


class Refused(Exception):
    pass


def integer(value):
    """to_integer_if_hex: hex text becomes a number; anything else stays, and has to be a number then."""
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]+", value):
        return int(value, 16)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Refused(f"no number: {value!r}")


def hexbytes(length=None, variable=False):
    def decode(value):
        if not isinstance(value, str) or not re.fullmatch(r"0x([0-9a-fA-F]{2})*", value):
            # HexBytes pads an odd number of digits, which quantities have.
            if not (variable and isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]+", value)):
                raise Refused(f"no bytes: {value!r}")
        size = len(value) // 2 - 1 + len(value) % 2
        if length is not None and (size > length if variable else size != length):
            raise Refused(f"{size} bytes in place of {length}: {value!r}")
        return value

    return decode


def address(value):
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]{40}", value):
        raise Refused(f"no address: {value!r}")
    return value


def optional(decode):
    return lambda value: None if value is None else decode(value)


def each(decode):
    def decode_all(values):
        if not isinstance(values, list):
            raise Refused(f"no list: {values!r}")
        return [decode(value) for value in values]

    return decode_all


def record(name, members, needed=()):
    """A dictionary: members that web3.py formats and that are there are decoded; `needed` have to be there."""

    def decode(value):
        if not isinstance(value, dict):
            raise Refused(f"{name} is no object: {value!r}")
        for key in needed:
            if key not in value:
                raise Refused(f"{name} lacks {key}")
        decoded = {}
        for key, member in value.items():
            try:
                decoded[key] = members[key](member) if key in members else member
            except Refused as refusal:
                raise Refused(f"{name}.{key}: {refusal}") from None
        return decoded

    return decode


HASH = hexbytes(32)
DATA = hexbytes()
SIGNATURE = optional(hexbytes(32, variable=True))

TRANSACTION = record(
    "transaction",
    {
        "blockHash": optional(HASH),
        "blockNumber": optional(integer),
        "transactionIndex": optional(integer),
        "nonce": integer,
        "gas": integer,
        "gasPrice": integer,
        "maxFeePerGas": integer,
        "maxPriorityFeePerGas": integer,
        "value": integer,
        "from": address,
        "r": SIGNATURE,
        "s": SIGNATURE,
        "to": optional(address),
        "hash": HASH,
        "v": optional(integer),
        "yParity": optional(integer),
        "type": optional(integer),
        "chainId": optional(integer),
        "input": DATA,
    },
    ["hash", "nonce", "from", "to", "value", "gas", "gasPrice", "input", "blockHash", "blockNumber"],
)

LOG = record(
    "log",
    {
        "blockHash": optional(HASH),
        "blockNumber": optional(integer),
        "transactionIndex": optional(integer),
        "transactionHash": optional(HASH),
        "logIndex": integer,
        "address": address,
        "topics": each(HASH),
        "data": DATA,
    },
    ["address", "topics", "data", "logIndex", "transactionHash", "blockHash", "blockNumber"],
)

RECEIPT = record(
    "receipt",
    {
        "blockHash": optional(HASH),
        "blockNumber": optional(integer),
        "transactionIndex": optional(integer),
        "transactionHash": HASH,
        "cumulativeGasUsed": integer,
        "status": integer,
        "gasUsed": integer,
        "contractAddress": optional(address),
        "logs": each(LOG),
        "logsBloom": hexbytes(256, variable=True),
        "from": optional(address),
        "to": optional(address),
        "effectiveGasPrice": integer,
        "type": integer,
    },
    ["transactionHash", "status", "gasUsed", "cumulativeGasUsed", "contractAddress", "logs", "blockNumber"],
)


def transactions(values):
    if all(isinstance(value, dict) for value in values):
        return each(TRANSACTION)(values)
    return each(HASH)(values)


BLOCK = record(
    "block",
    {
        "baseFeePerGas": integer,
        "extraData": optional(hexbytes(32, variable=True)),
        "gasLimit": integer,
        "gasUsed": integer,
        "size": integer,
        "timestamp": integer,
        "hash": optional(HASH),
        "logsBloom": optional(hexbytes(256, variable=True)),
        "miner": optional(address),
        "mixHash": optional(HASH),
        "nonce": optional(hexbytes(8, variable=True)),
        "number": optional(integer),
        "parentHash": optional(HASH),
        "sha3Uncles": optional(HASH),
        "uncles": each(HASH),
        "difficulty": integer,
        "receiptsRoot": optional(HASH),
        "stateRoot": optional(HASH),
        "totalDifficulty": integer,
        "transactions": transactions,
        "transactionsRoot": optional(HASH),
    },
    ["hash", "number", "parentHash", "timestamp", "gasLimit", "gasUsed", "transactions"],
)

FEES = record(
    "fee history",
    {"baseFeePerGas": each(integer), "gasUsedRatio": each(float), "oldestBlock": integer, "reward": each(each(integer))},
    ["baseFeePerGas", "gasUsedRatio", "oldestBlock"],
)


def call(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(URL, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        reply = json.load(response)
    if "error" in reply:
        raise Refused(f"{method}: {reply['error']}")
    return reply["result"]


def check(what, decode, method, *params):
    try:
        decoded = decode(call(method, *params))
        print("ok", what)
        return decoded
    except Refused as refusal:
        failed.append(what)
        print("FAILED", f"{what}: {refusal}")
        return None


head = check("eth_blockNumber", integer, "eth_blockNumber")
for name in ["eth_chainId", "eth_gasPrice", "eth_maxPriorityFeePerGas"]:
    check(name, integer, name)
check("eth_feeHistory", FEES, "eth_feeHistory", "0x2", "latest", [25, 75])
check("eth_syncing", lambda value: value, "eth_syncing")
for height in range((head or 0) + 1):
    tag = hex(height)
    check(f"block {tag}", BLOCK, "eth_getBlockByNumber", tag, False)
    block = check(f"block {tag} with transactions", BLOCK, "eth_getBlockByNumber", tag, True)
    for transaction in (block or {}).get("transactions", []):
        check(f"transaction in {tag}", TRANSACTION, "eth_getTransactionByHash", transaction["hash"])
        check(f"receipt in {tag}", RECEIPT, "eth_getTransactionReceipt", transaction["hash"])
logs = check("eth_getLogs", each(LOG), "eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})
if not logs:
    failed.append("eth_getLogs")
    print("FAILED eth_getLogs: no logs were found")
ZERO = "0x" + "0" * 40
check("eth_call", DATA, "eth_call", {"from": ZERO, "to": ZERO, "data": "0x"}, "latest")
check("eth_getCode", DATA, "eth_getCode", ZERO, "latest")
check("eth_getStorageAt", DATA, "eth_getStorageAt", ZERO, "0x0", "latest")
check("eth_estimateGas", integer, "eth_estimateGas", {"from": ZERO, "to": ZERO, "value": "0x0"})
check("eth_getTransactionCount", integer, "eth_getTransactionCount", ZERO, "latest")
check("eth_getBalance", integer, "eth_getBalance", ZERO, "latest")
sys.exit(1 if failed else 0)
