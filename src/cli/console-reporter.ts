/** Output for people: one readable line per call, transaction and block, in colour where the terminal supports it. */
import { inspect } from 'node:util'
import pc from 'picocolors'
import type { ExecutedBlock } from '../chain/block.ts'
import type { Transaction } from '../chain/transaction.ts'
import { contractAddress } from '../chain/transaction.ts'
import { counted } from '../counted.ts'
import type { Hex } from '../encoding/hex.ts'
import type { ChainUpdate, TransactionNotes } from '../engine/model.ts'
import { NodeError } from '../errors.ts'
import type { TerminalOptions } from '../options/options.ts'
import type { FailureTrees } from './failure-trees.ts'
import type { LineWriter, OrderedWriter } from './line-writer.ts'
import { errorText, isPrinted, type Level, printsActivity, type Reporter } from './reporter.ts'
import { coins, plain } from './terminal-text.ts'

/** An answered call in a line. */
function describeCall(method: string, milliseconds: number, error?: unknown): string {
  const took = pc.dim(`${milliseconds.toFixed(1)} ms`)
  // Callers may send anything as a method name.
  const name = plain(method.slice(0, 80))
  if (error === undefined) return `${pc.cyan(name)} ${took}`
  const message = error instanceof NodeError ? error.message : 'Internal server error'
  return `${pc.cyan(name)} ${took} ${pc.red(plain(message))}`
}

function target({ from, nonce, to }: Transaction): string {
  return to === null ? `creates ${contractAddress(from, nonce)}` : `to ${to}`
}

/** A mined transaction in a line. */
function describeTransaction(
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

/** The text of one console call, by lines. */
function consoleLines(text: string, indent: string): string[] {
  return text.split(/\r?\n/).map((line) => `${indent}${pc.magenta('console.log')} ${plain(line)}`)
}

/** A block that was added to the chain, in a line. */
function describeBlock({ hash, block }: ExecutedBlock): string {
  const count = block.transactions.filter(({ isRemasc }) => !isRemasc).length
  const { number, gasUsed } = block.header
  return `${pc.green(`Block ${number}`)} ${pc.dim(hash)} ${counted(count, 'transaction')}, gas ${gasUsed}`
}

const COLOURS: Readonly<Record<Level, (text: string) => string>> = {
  debug: pc.dim,
  info: pc.blue,
  warn: pc.yellow,
  error: pc.red,
}

/** Prints a block that was added to the chain, and its transactions with their console texts and call trees. */
function printBlock(
  executed: ExecutedBlock,
  notes: ChainUpdate['notes'],
  output: OrderedWriter,
  trees: FailureTrees | undefined,
): void {
  output.write(describeBlock(executed))
  for (const [i, { isRemasc, hash }] of executed.block.transactions.entries()) {
    if (isRemasc) continue
    const { failure, console = [] } = notes?.get(hash) ?? {}
    output.write(describeTransaction(executed, i, failure))
    for (const text of console) for (const line of consoleLines(text, '    ')) output.write(line)
    const failed = executed.receipts[i]?.succeeded === false
    const tree = failed ? trees?.ofTransaction(executed, i) : undefined
    if (tree !== undefined) output.later(tree)
  }
}

/**
 * Makes the reporter for people, with call trees of failures where `trees` are given. Warnings and errors go to `errors`,
 * the rest to `output`.
 */
export function createConsoleReporter(
  options: TerminalOptions,
  output: OrderedWriter,
  errors: LineWriter,
  trees?: FailureTrees,
): Reporter {
  function log(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (!isPrinted(level, options)) return
    const details = Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) {
        const text = errorText(value, options)
        return `${name}: ${isPrinted('debug', options) ? text : plain(text)}`
      }
      return `${name}: ${typeof value === 'string' ? plain(value) : inspect(value, { breakLength: Infinity })}`
    })
    const line = [`${COLOURS[level](level)} ${plain(message)}`, ...details].join(', ')
    const writer = level === 'warn' || level === 'error' ? errors : output
    writer.write(line, line)
  }
  const hasActivity = printsActivity(options)
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
      if (!hasActivity) return
      // A client that polls repeats its calls, which differ in their times only.
      const key = `${method} ${error === undefined ? '' : errorText(error, options)}`
      output.write(describeCall(method, milliseconds, error), key)
      const tree = error === undefined ? undefined : trees?.ofError(error)
      if (tree !== undefined) output.later(tree)
    },
    chain({ removed, added, notes }) {
      if (!hasActivity) return
      for (const { hash, block } of removed) output.write(removedLine(hash, block.header.number))
      for (const executed of added) printBlock(executed, notes, output, trees)
    },
    console({ texts, transaction }) {
      // The texts of a transaction are printed below its line, where it has one.
      if (!isPrinted('info', options) || (hasActivity && transaction !== undefined)) return
      for (const text of texts) for (const line of consoleLines(text, '')) output.write(line)
    },
    ready({ url, ws, metrics, ipc, chainId, head }) {
      if (metrics !== undefined) output.write(`Metrics on ${metrics}`)
      if (ipc !== undefined) output.write(`IPC on ${ipc}`)
      output.write(`${pc.green('Ready')} on ${url} and ${ws} (chain id ${chainId}, block ${head})`)
    },
  }
}
