/** Frames as they are shown: plain values, and a sentence for the failure. */
import { panicMessage } from '../../abi/panic.ts'
import { bytesText, quoted } from '../../abi/value-text.ts'
import type { SourceFrame } from '../../errors.ts'
import { revertReason } from '../../evm/failure-message.ts'
import type { Place, StackFrame } from './stack-frame.ts'

function revertText(output: Uint8Array): string {
  if (output.length === 0) return 'reverted without a reason'
  const reason = revertReason(output)
  return reason === undefined ? `reverted with the data ${bytesText(output)}` : `reverted: ${reason}`
}

/** A sentence for a failure; `undefined` for a call site. */
function messageOf({ kind, output = new Uint8Array(0), text, value, check }: StackFrame): string | undefined {
  switch (kind) {
    case 'call':
    case 'internal-call':
      return undefined
    case 'revert':
      return check === undefined ? revertText(output) : `reverted by a check of the compiler: ${check}`
    case 'custom-error':
      return text === undefined ? revertText(output) : `reverted with ${text}`
    case 'panic':
      return `reverted with ${panicMessage(output) ?? 'a panic'}`
    case 'invalid-opcode':
      if (check !== undefined) return `${text ?? 'invalid opcode'}: ${check}`
      return `${text ?? 'invalid opcode'}: an assertion before Solidity 0.8, or a check of the compiler`
    case 'function-not-payable':
      return `the function is not payable and was called with ${value} wei`
    case 'fallback-not-payable':
      return `the function is not known, and the fallback function is not payable and was called with ${value} wei`
    case 'fallback-not-payable-no-receive':
      return `there is no receive function, and the fallback function is not payable and was called with ${value} wei`
    case 'unknown-function':
      return 'the selector is none of a function, and there is no fallback function'
    case 'no-fallback-or-receive':
      return 'the contract has neither a fallback nor a receive function'
    case 'invalid-arguments':
      return 'the arguments cannot be decoded by the types of the function'
    case 'return-data-size':
      return 'the called function returned less data than its type needs'
    case 'account-without-code':
      return 'a function was called on an account without code'
    case 'call-refused':
      return `the call was not made: ${text}`
    case 'library-called-directly':
      return 'a function of a library that changes state was called without a delegate call'
    case 'precompile':
      return `the precompiled contract failed: ${text}`
    case 'code-too-large':
      return 'the code of the new contract is too large'
    case 'out-of-gas':
      return 'out of gas'
    case 'callee-out-of-gas':
      return 'the called contract ran out of gas'
    case 'failure':
      return text ?? 'failed'
  }
}

function placeMembers({ contract, function: name, range, at }: Place): Omit<SourceFrame, 'kind'> {
  const { file } = range
  return {
    ...(contract !== undefined && { contract }),
    ...(name !== undefined && { function: name }),
    file: file.path,
    ...file.positionOf(at ?? range.start),
  }
}

/** A frame without anything of the compiler. */
export function shownFrame(frame: StackFrame): SourceFrame {
  const { kind, place, unknown, precompile } = frame
  const address = precompile ?? unknown?.address
  const message = messageOf(frame)
  return {
    kind,
    ...(place && placeMembers(place)),
    ...(unknown?.isCreation && place === undefined && { function: 'constructor' }),
    ...(address !== undefined && { address }),
    ...(message !== undefined && { message }),
  }
}

/** `Vault.withdraw (contracts/Vault.sol:42:9)`, without what is not known. */
export function frameText({ contract, function: name, file, line, column, address }: SourceFrame): string {
  const owner = contract ?? (file === undefined ? `<${address ?? 'unknown contract'}>` : undefined)
  const what = [owner, name].filter((part) => part !== undefined).join('.')
  return file === undefined ? what : `${what || '<code>'} (${file}:${line}:${column})`
}

/** The lines of a JavaScript stack, the innermost frame first. */
export function stackLines(frames: readonly SourceFrame[]): string[] {
  return frames.toReversed().map((frame) => `    at ${plainLine(frameText(frame))}`)
}

/** Names and paths come from others: control characters are escaped. */
function plainLine(text: string): string {
  return quoted(text).slice(1, -1).replaceAll('\\"', '"')
}
