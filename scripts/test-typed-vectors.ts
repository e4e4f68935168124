/**
 * Reads every typed transaction of Ethereum's official tests: `npm run test:typed-vectors -- <checkout of ethereum/tests>`.
 * Exit code 1 where one is read otherwise than its test states.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '../src/encoding/hex.ts'
import { faultOf, type TypedVector } from '../test/support/typed-vectors.ts'

interface TransactionTest {
  readonly txbytes: Hex
  readonly result: Readonly<
    Record<string, { readonly sender?: Hex; readonly hash?: Hex; readonly exception?: string }>
  >
}

interface StateTest {
  readonly transaction: {
    readonly sender: Hex
    readonly nonce: string
    readonly to: string
    readonly gasLimit: readonly string[]
    readonly value: readonly string[]
    readonly data: readonly Hex[]
    readonly maxFeePerGas?: string
    readonly maxPriorityFeePerGas?: string
    readonly gasPrice?: string
    readonly accessLists?: readonly TypedVector['accessList'][]
  }
  readonly post: Readonly<
    Record<
      string,
      readonly {
        readonly txbytes?: Hex
        readonly expectException?: string
        readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
      }[]
    >
  >
}

/** The rule set whose results are taken. */
const FORK = 'Cancun'

function* testsIn<T>(checkout: string, folder: string): Generator<readonly [name: string, test: T]> {
  for (const file of readdirSync(join(checkout, folder)).sort()) {
    const tests = JSON.parse(readFileSync(join(checkout, folder, file), 'utf8')) as Record<string, T>
    for (const test of Object.values(tests)) yield [`${folder}/${file}`, test]
  }
}

function* vectorsOf(checkout: string): Generator<TypedVector> {
  for (const kind of ['ttEIP2930', 'ttEIP1559']) {
    for (const [name, { txbytes, result }] of testsIn<TransactionTest>(
      checkout,
      `TransactionTests/${kind}`,
    )) {
      const { sender, hash, exception } = result[FORK] ?? {}
      yield {
        name,
        bytes: txbytes,
        ...(exception === undefined ? { sender, hash } : { exception }),
      } as TypedVector
    }
  }
  for (const kind of ['stEIP2930', 'stEIP1559']) {
    for (const [name, { transaction, post }] of testsIn<StateTest>(checkout, `GeneralStateTests/${kind}`)) {
      const { gasLimit, value, data, accessLists, ...rest } = transaction
      for (const { txbytes, expectException, indexes } of post[FORK] ?? []) {
        if (txbytes === undefined || !/^0x0[12]/.test(txbytes)) continue
        yield {
          ...rest,
          name,
          bytes: txbytes,
          gasLimit: gasLimit[indexes.gas],
          value: value[indexes.value],
          data: data[indexes.data],
          accessList: accessLists?.[indexes.data],
          exception: expectException,
        } as TypedVector
      }
    }
  }
}

const [checkout] = process.argv.slice(2)
if (checkout === undefined) {
  console.error('Name a checkout of ethereum/tests.')
  process.exitCode = 1
} else {
  let count = 0
  let failed = 0
  for (const vector of vectorsOf(checkout)) {
    count++
    const fault = faultOf(vector)
    if (fault === undefined) continue
    failed++
    console.log(`FAIL ${vector.name}: ${fault}`)
  }
  console.log(`${count} transactions, ${failed} read otherwise than their tests state`)
  if (failed > 0 || count === 0) process.exitCode = 1
}
