/** What agents read beside the answers of tools: contracts, their sources, the last failures, the documents. */
import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { NodeError } from '../errors.ts'
import type { Access } from './access.ts'
import { MOST_LENGTH } from './answers.ts'
import { documentAt, documents } from './documents.ts'
import { lastFailures } from './failures.ts'

const JSON_TYPE = 'application/json'
const MARKDOWN = 'text/markdown'
/** Contracts that are listed as resources; any other is read by its address. */
const MOST_LISTED = 100

const Contracts = z.array(z.looseObject({ name: z.string(), address: z.string().nullable() }))
const Sources = z.looseObject({
  file: z.string(),
  name: z.string(),
  sources: z.record(z.string(), z.string()),
})

interface Text {
  readonly text: string
  readonly mimeType: string
}

const json = (value: unknown): Text => ({ text: JSON.stringify(value), mimeType: JSON_TYPE })

function missing(uri: string): NodeError {
  return new NodeError('invalid-params', `There is no resource ${uri.slice(0, 200)}.`)
}

/** The resources of one caller; what the caller may not call is not there. */
export class Resources {
  readonly #access: Access
  readonly #isOpen: (method: string) => boolean

  /** `names` are those of the methods that the caller may call. */
  constructor(access: Access, names: ReadonlySet<string>) {
    this.#access = access
    this.#isOpen = (method) => names.has(method)
  }

  async list(): Promise<Resource[]> {
    const listed: Resource[] = []
    if (this.#isOpen('evm_consoleOutput')) {
      listed.push({
        uri: 'tandem://failures',
        name: 'failures',
        title: 'Last failures',
        description: 'Transactions and calls that failed last, with reason, console output and stack trace',
        mimeType: JSON_TYPE,
      })
    }
    return [...listed, ...(await this.#contracts()), ...this.#documents()]
  }

  templates(): ResourceTemplate[] {
    const templates: ResourceTemplate[] = []
    if (this.#isOpen('evm_contractAbi')) {
      templates.push({
        uriTemplate: 'tandem://contracts/{address}',
        name: 'contract',
        description: 'ABI of a contract, and the names of its source files',
        mimeType: JSON_TYPE,
      })
    }
    if (this.#isOpen('evm_sourcesAt')) {
      templates.push({
        uriTemplate: 'tandem://sources/{address}/{+file}',
        name: 'source',
        description: 'A source file of a contract',
        mimeType: 'text/plain',
      })
    }
    return templates
  }

  /** Throws `invalid-params` for a resource that does not exist. */
  async read(uri: string): Promise<ReadResourceResult> {
    const { text, mimeType } = await this.#text(uri)
    const { answers, owner } = this.#access
    const { text: part, rest } = answers.first(text, owner, MOST_LENGTH)
    const contents: ReadResourceResult['contents'] = [{ uri, mimeType, text: part }]
    if (rest !== undefined) {
      const how = rest.cursor === undefined ? '' : ` Call read_more with the cursor ${rest.cursor}`
      contents.push({ uri, mimeType: 'text/plain', text: `${rest.characters} characters are left.${how}` })
    }
    return { contents }
  }

  async #text(uri: string): Promise<Text> {
    const [, kind = '', rest = ''] = /^tandem:\/\/(\w+)(?:\/(.+))?$/.exec(uri) ?? []
    if (uri === 'tandem://failures' && this.#isOpen('evm_consoleOutput')) {
      return json(await lastFailures(this.#access.node))
    }
    if (kind === 'docs') return this.#document(uri, rest)
    if (kind === 'contracts' && this.#isOpen('evm_contractAbi')) return this.#contract(uri, rest)
    const [, address = '', file = ''] = /^([^/]+)\/(.+)$/.exec(rest) ?? []
    if (kind === 'sources' && file !== '' && this.#isOpen('evm_sourcesAt')) {
      return this.#source(uri, address, file)
    }
    throw missing(uri)
  }

  async #contracts(): Promise<Resource[]> {
    if (!this.#isOpen('evm_contracts')) return []
    const known = Contracts.safeParse(await this.#access.node.resultOf('evm_contracts', []))
    const placed = (known.success ? known.data : []).filter(({ address }) => address !== null)
    return placed.slice(0, MOST_LISTED).map(({ name, address }) => ({
      uri: `tandem://contracts/${address}`,
      name,
      title: name,
      description: `Contract at ${address}: its ABI and the names of its source files`,
      mimeType: JSON_TYPE,
    }))
  }

  #documents(): Resource[] {
    return documents().map(({ path, title, summary }) => ({
      uri: `tandem://docs/${path}`,
      name: path,
      title,
      description: summary,
      mimeType: MARKDOWN,
    }))
  }

  #document(uri: string, path: string): Text {
    const text = documentAt(path)
    if (text === undefined) throw missing(uri)
    return { text, mimeType: MARKDOWN }
  }

  async #contract(uri: string, address: string): Promise<Text> {
    const { node } = this.#access
    const abi = await node.resultOf('evm_contractAbi', [address])
    const sources = this.#isOpen('evm_sourcesAt') ? await this.#sourcesOf(address) : undefined
    if ((abi === undefined || abi === null) && sources === undefined) throw missing(uri)
    const files = Object.keys(sources?.sources ?? {})
    return json({
      address,
      ...(sources && { name: sources.name, file: sources.file }),
      abi,
      sources: files.map((file) => `tandem://sources/${address}/${encodeURI(file)}`),
    })
  }

  async #source(uri: string, address: string, file: string): Promise<Text> {
    const sources = await this.#sourcesOf(address)
    const text = sources?.sources[decodedName(file)]
    if (text === undefined) throw missing(uri)
    return { text, mimeType: 'text/plain' }
  }

  async #sourcesOf(address: string): Promise<z.infer<typeof Sources> | undefined> {
    return Sources.safeParse(await this.#access.node.resultOf('evm_sourcesAt', [address])).data
  }
}

/** The name of a file in a URI; as it is where it is malformed. */
function decodedName(file: string): string {
  try {
    return decodeURI(file)
  } catch {
    return file
  }
}
