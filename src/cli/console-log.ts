/** Output for people: one readable line per call, transaction and block, in colour where the terminal has it. */
import { inspect } from 'node:util'
import pc from 'picocolors'
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import { contractAddress } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { TransactionNotes } from '../engine/model.ts'
import { NodeError } from '../errors.ts'
import type { TerminalOptions } from '../options/options.ts'
import type { FailureTrees } from './failure-trees.ts'
import type { LineWriter, PatientWriter } from './line-writer.ts'
import { isPrinted, isTalkative, type Level, type Reporter, wordsOf } from './reporter.ts'

const WEI_PER_COIN = 10n ** 18n

/** Control characters would let a caller's words repaint the terminal. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')
}

/** Wei as coins, without trailing zeros. */
export function coins(wei: bigint): string {
  const whole = wei / WEI_PER_COIN
  const rest = (wei % WEI_PER_COIN).toString().padStart(18, '0').replace(/0+$/, '')
  return rest === '' ? `${whole}` : `${whole}.${rest}`
}

/** A count and what it counts. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** What a call asked of the node has come to, in a line. */
export function describeCall(method: string, milliseconds: number, error?: unknown): string {
  const took = pc.dim(`${milliseconds.toFixed(1)} ms`)
  // Methods are named by callers, who may send anything.
  const name = plain(method.slice(0, 80))
  if (error === undefined) return `${pc.cyan(name)} ${took}`
  const words = error instanceof NodeError ? error.message : 'Internal server error'
  return `${pc.cyan(name)} ${took} ${pc.red(plain(words))}`
}

function target({ from, nonce, to }: Transaction): string {
  return to === null ? `creates ${contractAddress(from, nonce)}` : `to ${to}`
}

/** A mined transaction in a line. */
export function describeTransaction(
  executed: ExecutedBlock,
  index: number,
  failure?: TransactionNotes['failure'],
): string {
  const transaction = executed.block.transactions[index] as Transaction
  const receipt = executed.receipts[index]
  const value = transaction.value === 0n ? '' : `, value ${coins(transaction.value)}`
  const reason = failure === undefined ? '' : `: ${plain(failure.reason)}`
  const outcome = receipt?.succeeded === false ? pc.red(` failed${reason}`) : ''
  const gas = receipt === undefined ? '' : `, gas ${receipt.gasUsed}`
  return `  ${pc.yellow(transaction.hash)} from ${transaction.from} ${target(transaction)}${value}${gas}${outcome}`
}

/** What code said with one call to the console contract, by lines. */
function saidLines(text: string, indent: string): string[] {
  return text.split(/\r?\n/).map((line) => `${indent}${pc.magenta('console.log')} ${plain(line)}`)
}

/** A block that was joined to the chain, in a line. */
export function describeBlock({ hash, block }: ExecutedBlock): string {
  const count = block.transactions.filter(({ isRemasc }) => !isRemasc).length
  const { number, gasUsed } = block.header
  return `${pc.green(`Block ${number}`)} ${pc.dim(hash)} ${plural(count, 'transaction')}, gas ${gasUsed}`
}

const COLOURS: Readonly<Record<Level, (text: string) => string>> = {
  debug: pc.dim,
  info: pc.blue,
  warn: pc.yellow,
  error: pc.red,
}

/** Makes the reporter for people; failures are told with their call trees where `trees` are given. Warnings and errors go to `errors`, the rest to `output`. */
export function createConsoleReporter(
  options: TerminalOptions,
  output: PatientWriter,
  errors: LineWriter,
  trees?: FailureTrees,
): Reporter {
  function log(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (!isPrinted(level, options)) return
    const details = Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) return `${name}: ${wordsOf(value, options)}`
      return `${name}: ${typeof value === 'string' ? plain(value) : inspect(value, { breakLength: Infinity })}`
    })
    const line = [`${COLOURS[level](level)} ${message}`, ...details].join(', ')
    const writer = level === 'warn' || level === 'error' ? errors : output
    writer.write(line)
  }
  const talkative = isTalkative(options)
  const removedLine = (hash: Hex, number: number) =>
    `${pc.red(`Block ${number} left the chain`)} ${pc.dim(hash)}`

  return {
    logger: {
      debug: (message, fields) => log('debug', message, fields),
      info: (message, fields) => log('info', message, fields),
      warn: (message, fields) => log('warn', message, fields),
      error: (message, fields) => log('error', message, fields),
    },
    call(method, milliseconds, error) {
      if (!talkative) return
      output.write(describeCall(method, milliseconds, error))
      const tree = error === undefined ? undefined : trees?.ofError(error)
      if (tree !== undefined) output.later(tree)
    },
    chain({ removed, added, notes }) {
      if (!talkative) return
      for (const { hash, block } of removed) output.write(removedLine(hash, block.header.number))
      for (const executed of added) {
        output.write(describeBlock(executed))
        executed.block.transactions.forEach(({ isRemasc, hash }, i) => {
          if (isRemasc) return
          const { failure, console = [] } = notes?.get(hash) ?? {}
          output.write(describeTransaction(executed, i, failure))
          for (const text of console) for (const line of saidLines(text, '    ')) output.write(line)
          const failed = executed.receipts[i]?.succeeded === false
          const tree = failed ? trees?.ofTransaction(executed, i) : undefined
          if (tree !== undefined) output.later(tree)
        })
      }
    },
    console({ texts, transaction }) {
      // A transaction's words stand below its line, where there is one.
      if (!isPrinted('info', options) || (talkative && transaction !== undefined)) return
      for (const text of texts) for (const line of saidLines(text, '')) output.write(line)
    },
    ready({ url, ws, metrics, chainId, head }) {
      if (metrics !== undefined) output.write(`Figures on ${metrics}`)
      output.write(`${pc.green('Ready')} on ${url} and ${ws} (chain id ${chainId}, block ${head})`)
    },
  }
}
