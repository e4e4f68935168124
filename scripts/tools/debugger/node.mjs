/** A node with a contract to debug. */
import { Interface } from 'ethers'
import { createNode } from '../../../dist/index.js'
import { SELF, SENDER } from './cases.mjs'

const GAS = '0x5b8d80'

/** A node that knows a build, with its contract deployed; `call` calls a function, and answers the transaction's hash. */
export async function deployed(build, { contract, args }) {
  const node = await createNode()
  await node.request({ method: 'evm_addSources', params: [build] })
  const [sender] = node.engine.accounts.list()
  const named = build.output.contracts[`${contract}.sol`]
  const face = new Interface(named[contract].abi)
  const sent = []

  async function send(transaction) {
    const params = [{ from: sender, gas: GAS, ...transaction }]
    await node.request({ method: 'eth_sendTransaction', params }).catch(() => {})
    const { hash } = node.engine.queries.head().block.transactions[0]
    sent.push({ ...transaction, hash })
    return node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  }

  async function linked({ object, linkReferences }) {
    let code = object
    for (const [name, places] of Object.values(linkReferences).flatMap(Object.entries)) {
      const { contractAddress } = await send({ data: `0x${named[name].evm.bytecode.object}` })
      for (const { start } of places) {
        code = code.slice(0, 2 * start) + contractAddress.slice(2) + code.slice(2 * start + 40)
      }
    }
    return `0x${code}`
  }

  const code = await linked(named[contract].evm.bytecode)
  const receipt = await send({ data: code + face.encodeDeploy(args).slice(2) })
  const to = receipt.contractAddress
  const known = { [SELF]: to, [SENDER]: sender }
  async function call([name, ...given]) {
    const values = given.map((value) => known[value] ?? value)
    return (await send({ to, data: face.encodeFunctionData(name, values) })).transactionHash
  }
  return { node, deployment: receipt.transactionHash, call, sent }
}
