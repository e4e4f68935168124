/**
 * Verifies contracts by Sourcify's own library, which asks the node of `NODE_URL` for their codes, and writes how each of
 * the claims of stdin matches. Needs Node.js 22.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { AuxdataStyle, decode } from '@ethereum-sourcify/bytecode-utils'
import { SolidityCompilation, SourcifyChain, Verification } from '@ethereum-sourcify/lib-sourcify'

const { NODE_URL, SOLC } = process.env
const { version, claims } = JSON.parse(readFileSync(0, 'utf8'))

const compiler = {
  async compile(_version, input) {
    const text = execFileSync(process.execPath, [SOLC, '--standard-json'], {
      input: JSON.stringify(input),
      maxBuffer: 1 << 28,
    })
    return JSON.parse(text)
  },
}
const chain = new SourcifyChain({
  name: 'tandem',
  chainId: 33,
  rpcs: [{ rpc: NODE_URL }],
  supported: true,
  traceSupport: false,
})

const found = []
for (const { address, transaction, input, target } of claims) {
  const verification = new Verification(
    new SolidityCompilation(compiler, version, input, target),
    chain,
    address,
    transaction,
  )
  await verification.verify()
  const { solcVersion, ipfs } = decode(verification.onchainRuntimeBytecode, AuxdataStyle.SOLIDITY)
  found.push({ ...verification.status, solcVersion, ipfs })
}
process.stdout.write(JSON.stringify(found))
