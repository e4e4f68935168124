/** Scenarios of Ethereum's first eight precompiled contracts, called with much and with little gas. */
import { sign } from '../../src/chain/signature.ts'
import { fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { contract, ending, inMemory, keep, type Scenario } from './scenario.ts'

function words(...values: readonly bigint[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [...fromBigIntFixed(value, 32)]))
}

function signed(): { hash: bigint; v: bigint; r: bigint; s: bigint } {
  const hash = keccak256(Uint8Array.of(1, 2, 3))
  const { r, s, parity } = sign(hash, new Uint8Array(32).fill(0x11))
  return { hash: BigInt(`0x${Buffer.from(hash).toString('hex')}`), v: 27n + BigInt(parity), r, s }
}

const { hash, v, r, s } = signed()
const FIELD = 21888242871839275222246405745257275088696311157297823662689037894645226208583n
const ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n
/** Generator of the second group: imaginary part first (EIP-197). */
const SECOND = [
  11559732032986387107991004021392285783925812861821192530917403151452391805634n,
  10857046999023057135944570762232829481370756359578518086990519993285655852781n,
  4082367875863433681332203403145435568316851327593401208105741076214120093531n,
  8495653923123431417604973247489272438418190587263600148770280649306958101930n,
]
const text = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i + 1)
const texts = Object.fromEntries([0, 1, 32, 33, 64].map((length) => [`${length} bytes`, text(length)]))

/** Inputs by the last digit of the address. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, Uint8Array>>>> = {
  1: {
    'a signature': words(hash, v, r, s),
    'the other parity': words(hash, 55n - v, r, s),
    'a v of 29': words(hash, 29n, r, s),
    'an r of 0': words(hash, v, 0n, s),
    'a large v': words(hash, v + 256n, r, s),
    'half a signature': words(hash, v, r),
    nothing: new Uint8Array(),
  },
  2: texts,
  3: texts,
  4: texts,
  5: {
    '3^5 mod 7': Uint8Array.of(...words(1n, 1n, 1n), 3, 5, 7),
    'lengths of 0': words(0n, 0n, 0n),
    'a modulus of 0': Uint8Array.of(...words(1n, 1n, 1n), 3, 5, 0),
    'a long exponent': Uint8Array.of(
      ...words(1n, 40n, 32n),
      3,
      ...text(40),
      ...new Uint8Array(32).fill(0xf1),
    ),
    'a cut input': Uint8Array.of(...words(2n, 1n, 2n), 3),
    'a huge base': words(2n ** 200n, 1n, 1n),
    nothing: new Uint8Array(),
  },
  6: {
    'twice the generator': words(1n, 2n, 1n, 2n),
    'a point and its opposite': words(1n, 2n, 1n, FIELD - 2n),
    'no points': new Uint8Array(),
    'off the curve': words(1n, 3n, 1n, 2n),
    'beyond the field': words(1n + FIELD, 2n, 0n, 0n),
    'one point, cut': words(1n, 2n).subarray(0, 63),
    'more than it takes': words(1n, 2n, 1n, 2n, 5n),
  },
  7: {
    'five times': words(1n, 2n, 5n),
    'the order': words(1n, 2n, ORDER),
    'the largest word': words(1n, 2n, 2n ** 256n - 1n),
    'off the curve': words(1n, 1n, 5n),
    nothing: new Uint8Array(),
  },
  8: {
    nothing: new Uint8Array(),
    'a pair that gives 1': words(1n, 2n, ...SECOND, 1n, FIELD - 2n, ...SECOND),
    'a pair that does not': words(1n, 2n, ...SECOND),
    'points at infinity': words(0n, 0n, 0n, 0n, 0n, 0n),
    'off the curve': words(1n, 2n, 1n, 1n, 1n, 1n),
    'a length of 191': new Uint8Array(191),
  },
}

/** Plenty, and little enough that most fail. */
const GAS = ['350000', '65']

export const PRECOMPILES: readonly Scenario[] = Object.entries(INPUTS).flatMap(([digit, inputs]) =>
  Object.entries(inputs).flatMap(([name, input]) => [
    ...GAS.map((gas) =>
      contract(
        `0x0${digit} on ${gas} gas: ${name}`,
        `${inMemory(input)} 64 1024 ${input.length} 0 0 ${digit} ${gas} CALL ${keep(0)} 1024 MLOAD ${keep(1)} 1056 MLOAD ${keep(2)} RETURNDATASIZE ${keep(3)} GAS ${keep(4)}`,
        { transaction: { gasLimit: 900_000n } },
      ),
    ),
    {
      name: `0x0${digit} by a transaction: ${name}`,
      transaction: { to: ending(digit), data: input, gasLimit: 300_000n, value: 1n },
    },
  ]),
)
