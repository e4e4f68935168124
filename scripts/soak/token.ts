/** The token that the load moves about: OpenZeppelin's ERC-20 of the fixtures, and calls of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Interface, type InterfaceAbi, id } from 'ethers'
import { ROOT } from './node-process.ts'

const artifact: { abi: InterfaceAbi; bytecode: string } = JSON.parse(
  readFileSync(join(ROOT, 'fixtures/contracts/Token.json'), 'utf8'),
)
const TOKEN = new Interface(artifact.abi)

/** First topic of the event that each transfer leaves. */
export const TRANSFER_TOPIC: string = id('Transfer(address,address,uint256)')

/** Creation code of a token whose maker gets the whole supply. */
export function creationCode(supply: bigint): string {
  return artifact.bytecode + TOKEN.encodeDeploy([supply]).slice(2)
}

/** Call data that moves tokens. */
export function transferData(to: string, amount: bigint): string {
  return TOKEN.encodeFunctionData('transfer', [to, amount])
}

/** The call object that asks for somebody's tokens. */
export function balanceOfCall(token: string, holder: string): { to: string; data: string } {
  return { to: token, data: TOKEN.encodeFunctionData('balanceOf', [holder]) }
}
