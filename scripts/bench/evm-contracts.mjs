/** Calls of real contracts (fixtures/contracts/Hot.sol), for `npm run bench:micro -- --only evm`. */
import { readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'

const { bytecode } = JSON.parse(
  readFileSync(new URL('../../fixtures/contracts/Hot.json', import.meta.url), 'utf8'),
)

/** How often a contract is called in a sample. */
export const CALLS = 200

const word = (value) => BigInt(value).toString(16).padStart(64, '0')
const bytes = (hex) => Uint8Array.from(Buffer.from(hex.replace('0x', ''), 'hex'))

/**
 * Deploys the contracts on a build of the machine and returns what each kind of call is: its contract, and the data of
 * the call of a number. `run(to, data)` runs a message and returns its result.
 */
export async function contractCalls(run, { keccakHex, owner }) {
  const data = (signature, ...words) =>
    bytes(keccakHex(Buffer.from(signature)).slice(2, 10) + words.map(word).join(''))
  const deploy = async (name) => (await run(null, bytes(bytecode[name]))).created
  const address = async (of, name) =>
    `0x${Buffer.from((await run(of, data(name))).output)
      .toString('hex')
      .slice(24)}`
  const [coin, nft, pool, verifier] = [
    await deploy('Coin'),
    await deploy('Nft'),
    await deploy('Pool'),
    await deploy('Verifier'),
  ]
  await run(coin, data('mint(address,uint256)', owner, 10n ** 30n))
  for (const name of ['a()', 'b()']) {
    const traded = await address(pool, name)
    await run(traded, data('mint(address,uint256)', owner, 10n ** 29n))
    await run(traded, data('approve(address,uint256)', pool, 10n ** 40n))
  }
  const key = new Uint8Array(32).fill(7)
  const { output: digest } = await run(verifier, data('digest(address,uint256,uint256)', owner, 5, 0))
  const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
  const signed = Buffer.concat([signature.subarray(1), Uint8Array.of(27 + signature[0])])
  const order = [word(owner), word(5), word(96), word(65), signed.toString('hex'), '0'.repeat(62)].join('')
  const verification = bytes(keccakHex(Buffer.from('verify(address,uint256,bytes)')).slice(2, 10) + order)
  return {
    'ERC-20 transfer': [coin, (i) => data('transfer(address,uint256)', 10_000 + (i % 50), 1 + i)],
    'ERC-721 mint': [nft, (i) => data('mint(address)', 10_000 + (i % 50))],
    'constant-product swap': [pool, (i) => data('swap(uint256,bool)', 10n ** 18n + BigInt(i), i % 2)],
    'signature verifier': [verifier, () => verification],
  }
}
