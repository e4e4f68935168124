/** Contracts of OpenZeppelin of the three standards (`fixtures/contracts`), deployed and used on a node. */
import { Interface } from 'ethers'
import type { Hex } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/node/node.ts'
import { artifact } from './contracts.ts'

/** Their ABIs. */
export const TOKEN_ABI = {
  token: new Interface(artifact('Token').abi),
  deed: new Interface(artifact('Deed').abi),
  goods: new Interface(artifact('Goods').abi),
}
/** Accounts without a key. */
export const BOB: Hex = '0x00000000000000000000000000000000000000b0'
export const CAROL: Hex = '0x00000000000000000000000000000000000000c0'

/** Where the contracts are, and the account that made and uses them. */
export interface TokenChain {
  readonly alice: Hex
  readonly token: Hex
  readonly deed: Hex
  readonly goods: Hex
  /** Calls a function of a contract; the hash of the transaction. */
  use(contract: keyof typeof TOKEN_ABI, name: string, ...values: unknown[]): Promise<Hex>
}

/** Deploys a token of ERC-20 with a supply of 1000, one of ERC-721, and one of ERC-1155. */
export async function deployTokens(node: Pick<Node, 'request'>): Promise<TokenChain> {
  const [alice] = (await node.request({ method: 'eth_accounts' })) as [Hex]
  const send = async (transaction: object): Promise<Hex> =>
    (await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: alice, gas: '0x4c4b40', ...transaction }],
    })) as Hex
  async function deploy(name: 'Token' | 'Deed' | 'Goods', words = ''): Promise<Hex> {
    const hash = await send({ data: artifact(name).bytecode + words })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    return (receipt as { contractAddress: Hex }).contractAddress
  }
  const token = await deploy('Token', TOKEN_ABI.token.encodeDeploy([1000]).slice(2))
  const addresses = { token, deed: await deploy('Deed'), goods: await deploy('Goods') }
  return {
    alice,
    ...addresses,
    use: (contract, name, ...values) =>
      send({ to: addresses[contract], data: TOKEN_ABI[contract].encodeFunctionData(name, values) }),
  }
}
