/** A chain with tokens for indexers, and the rows that follow from its blocks and receipts. */
import { decodeEventLog, decodeFunctionData, encodeFunctionData } from 'viem'
import { compile, deployable } from '../compile.mjs'
import { rpc } from '../nodes.mjs'

const GAS = '0x2dc6c0'

/** What it calls on a node. */
export class TokenChain {
  #url
  #token
  #tokens

  constructor(url, { token, tokens, factory, accounts }) {
    this.#url = url
    this.#token = token
    this.#tokens = tokens
    this.factory = factory
    this.accounts = accounts
  }

  /** Deploys the factory of tokens. */
  static async deploy(url) {
    const { Token, Tokens } = compile('indexers/Tokens.sol').contracts
    const accounts = await rpc(url, 'eth_accounts')
    const { abi, bytecode } = deployable(Tokens)
    const hash = await rpc(url, 'eth_sendTransaction', { from: accounts[0], data: bytecode, gas: GAS })
    const { contractAddress: factory } = await rpc(url, 'eth_getTransactionReceipt', hash)
    return new TokenChain(url, { token: Token.abi, tokens: abi, factory, accounts })
  }

  /** The same contracts on another node. */
  on(url) {
    return new TokenChain(url, {
      token: this.#token,
      tokens: this.#tokens,
      factory: this.factory,
      accounts: this.accounts,
    })
  }

  /** Creates a token of the first account, for its address. */
  async create(supply) {
    const data = encodeFunctionData({ abi: this.#tokens, functionName: 'create', args: [supply] })
    const hash = await this.#send({ from: this.accounts[0], to: this.factory, data })
    const { logs } = await rpc(this.#url, 'eth_getTransactionReceipt', hash)
    return logs[0].address
  }

  /** A call that transfers from one of the accounts to another. */
  transfer(token, from, to, amount) {
    const args = [this.accounts[to], amount]
    const data = encodeFunctionData({ abi: this.#token, functionName: 'transfer', args })
    return { from: this.accounts[from], to: token, data, gas: GAS }
  }

  /** Sends transfers, each in a block. */
  async send(...transfers) {
    for (const transfer of transfers) await this.#send(transfer)
  }

  /** Mines transfers in one block. */
  async mineTogether(...transfers) {
    await rpc(this.#url, 'evm_setAutomine', false)
    await this.send(...transfers)
    await rpc(this.#url, 'evm_mine')
    await rpc(this.#url, 'evm_setAutomine', true)
  }

  #send(request) {
    // A failed transaction is answered with its reason.
    return rpc(this.#url, 'eth_sendTransaction', { gas: GAS, ...request }).catch(({ data }) => data?.txHash)
  }

  /** The hash of the head, which names the whole chain. */
  async head() {
    return (await rpc(this.#url, 'eth_getBlockByNumber', 'latest', false)).hash
  }

  /** The rows of Ponder's tables, each sorted by its key. */
  async rows() {
    const [sender] = this.accounts
    const rows = { transfer: [], balance: [], block: [], sent: [], call: [] }
    const created = new Set()
    const balances = new Map()
    const head = Number(await rpc(this.#url, 'eth_blockNumber'))
    for (let height = 1; height <= head; height++) {
      const at = await rpc(this.#url, 'eth_getBlockByNumber', `0x${height.toString(16)}`, true)
      rows.block.push({ height, hash: at.hash, timestamp: String(Number(at.timestamp)) })
      const found = []
      for (const transaction of at.transactions) {
        const receipt = await rpc(this.#url, 'eth_getTransactionReceipt', transaction.hash)
        if (receipt.status !== '0x1') continue
        if (transaction.from === sender) {
          rows.sent.push({ transaction: transaction.hash, block: at.hash, status: 'success' })
        }
        for (const log of receipt.logs) {
          if (log.address === this.factory) created.add(log.topics[1].replace('0x'.padEnd(26, '0'), '0x'))
        }
        for (const log of receipt.logs) {
          if (!created.has(log.address)) continue
          found.push(this.#transferOf(log, receipt))
        }
        if (created.has(transaction.to)) {
          const { args } = decodeFunctionData({ abi: this.#token, data: transaction.input })
          rows.call.push({ transaction: transaction.hash, to: transaction.to, amount: String(args[1]) })
        }
      }
      for (const { token, from, to, amount } of found) {
        balances.set(`${token} ${from}`, (balances.get(`${token} ${from}`) ?? 0n) - BigInt(amount))
        balances.set(`${token} ${to}`, (balances.get(`${token} ${to}`) ?? 0n) + BigInt(amount))
      }
      for (const transfer of found) {
        const balance = String(balances.get(`${transfer.token} ${transfer.to}`))
        rows.transfer.push({ ...transfer, balance })
      }
    }
    rows.balance = [...balances].map(([id, amount]) => ({ id, amount: String(amount) }))
    return sortedRows(rows)
  }

  #transferOf({ address, topics, data, blockNumber, logIndex, blockHash }, { transactionHash, gasUsed }) {
    const { args } = decodeEventLog({ abi: this.#token, topics, data })
    return {
      id: `${Number(blockNumber)} ${Number(logIndex)}`,
      token: address,
      from: args.from.toLowerCase(),
      to: args.to.toLowerCase(),
      amount: String(args.amount),
      block: blockHash,
      transaction: transactionHash,
      gasUsed: String(Number(gasUsed)),
    }
  }
}

/** Rows of tables in the order of their texts, with addresses in lower case. */
export function sortedRows(tables) {
  const sorted = Object.entries(tables).map(([name, rows]) => {
    const texts = rows.map((row) => JSON.stringify(row, Object.keys(row).sort()).toLowerCase())
    return [name, texts.sort().map((text) => JSON.parse(text))]
  })
  return Object.fromEntries(sorted)
}
