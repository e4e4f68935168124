/** Deploys the contracts of `contracts/Box.sol`. */
import assert from 'node:assert/strict'
import { encodeAbiParameters } from 'viem'
import { rpc } from '../nodes.mjs'

/** Constructor arguments of Box, as words. */
export const BOX_WORDS = encodeAbiParameters([{ type: 'uint256' }, { type: 'string' }], [7n, 'a box']).slice(
  2,
)

/** Deploys code, for its address. */
export async function deploy(url, data) {
  const [from] = await rpc(url, 'eth_accounts')
  const hash = await rpc(url, 'eth_sendTransaction', { from, data, gas: '0x4c4b40' })
  const { contractAddress, status } = await rpc(url, 'eth_getTransactionReceipt', hash)
  assert.equal(status, '0x1')
  return contractAddress
}

/** Creation code of an artifact of Hardhat's or of solc's output, with a library at its places. */
export function linked({ bytecode, linkReferences = bytecode.linkReferences ?? {} }, library) {
  const given = bytecode.object ?? bytecode
  let code = given.startsWith('0x') ? given : `0x${given}`
  for (const places of Object.values(linkReferences).flatMap((libraries) => Object.values(libraries))) {
    for (const { start, length } of places) {
      code = `${code.slice(0, 2 + 2 * start)}${library.slice(2)}${code.slice(2 + 2 * (start + length))}`
    }
  }
  return code
}

/** Deploys all of them by their artifacts. */
export async function deployAll(url, artifactOf) {
  const library = await deploy(url, linked(artifactOf('Sums')))
  const twin = await deploy(url, linked(artifactOf('Twin')))
  const words = encodeAbiParameters([{ type: 'address' }], [twin]).slice(2)
  return {
    library,
    twin,
    box: await deploy(url, linked(artifactOf('Box'), library) + BOX_WORDS),
    proxy: await deploy(url, linked(artifactOf('Proxy')) + words),
  }
}
