/** Token transfers in Etherscan's form. */
import { toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { heightOf } from '../../engine/queries/log-walk.ts'
import type { TokenTransfer } from '../../engine/queries/token-transfers.ts'
import type { TokenFacts } from '../../execution/token-facts.ts'

/** A row of `tokentx`, `tokennfttx` or `token1155tx`. */
export function transferRow(
  engine: Engine,
  { type, view, token, from, to, amount = 1n, tokenId }: TokenTransfer,
  { name = '', symbol = '', decimals }: TokenFacts,
): object {
  const mined = engine.queries.receipt(view.transaction.hash)
  const head = engine.queries.head().block.header.number
  const height = heightOf(view)
  const data = mined?.transaction.data ?? new Uint8Array(0)
  return {
    blockNumber: String(height),
    timeStamp: String(mined?.block.block.header.timestamp ?? ''),
    hash: view.transaction.hash,
    nonce: String(mined?.transaction.nonce ?? ''),
    blockHash: view.block.hash,
    from,
    contractAddress: token,
    to,
    ...(type === 'erc20' && { value: String(amount) }),
    ...(type !== 'erc20' && { tokenID: String(tokenId) }),
    ...(type === 'erc1155' && { tokenValue: String(amount) }),
    tokenName: name,
    tokenSymbol: symbol,
    ...(type !== 'erc1155' && { tokenDecimal: String(decimals ?? 0) }),
    transactionIndex: String(view.transactionIndex),
    logIndex: String(view.logIndex),
    gas: String(mined?.transaction.gasLimit ?? ''),
    gasPrice: String(mined?.transaction.gasPrice ?? ''),
    gasUsed: String(mined?.receipt.gasUsed ?? ''),
    cumulativeGasUsed: String(mined?.receipt.cumulativeGasUsed ?? ''),
    input: 'deprecated',
    methodId: toHex(data.subarray(0, 4)),
    functionName: '',
    confirmations: String(head - height + 1),
  }
}
