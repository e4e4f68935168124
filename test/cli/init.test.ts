import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { parseAst } from 'rolldown/parseAst'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lineDiff } from '../../src/cli/init/line-diff.ts'
import { withMember } from '../../src/cli/init/manifest.ts'
import { fillInitCommand } from '../../src/cli/init.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'init-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
}

const text = (name: string) => readFileSync(join(dir, name), 'utf8')

/** Runs the command in this process, in `dir` unless a path is first; what it printed, without colours. */
async function init(...args: string[]): Promise<string> {
  const printed: string[] = []
  const writer = {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    write: (line: string) => void printed.push(line.replace(/\x1b\[\d+m/g, '')),
    flush: async () => {},
    later: () => {},
  }
  const command = new Command('init')
  fillInitCommand(command, { output: writer, errors: writer })
  const folder = args[0]?.startsWith('/') ? [] : [dir]
  await command.parseAsync([...folder, ...args], { from: 'user' })
  return printed.join('\n')
}

const MANIFEST = `{
  "name": "app",
  "devDependencies": {
    "hardhat": "^2.22.0",
    "zeta": "1.0.0"
  }
}
`

describe('init', () => {
  it('shows the difference, and writes nothing without a person or --yes', async () => {
    write({ 'package.json': MANIFEST, 'hardhat.config.js': "module.exports = { solidity: '0.8.24' }\n" })
    await expect(init()).rejects.toThrow(
      'Nothing was written: run the command again with --yes to write this.',
    )
    expect(text('package.json')).toBe(MANIFEST)
    expect(existsSync(join(dir, 'test'))).toBe(false)
  })

  it('adds the plugin to a project of Hardhat 2, once', async () => {
    write({
      'package.json': MANIFEST,
      'hardhat.config.js':
        "require('@nomicfoundation/hardhat-toolbox')\n\nmodule.exports = { solidity: '0.8.24' }\n",
      '.gitignore': 'node_modules\n',
    })
    const printed = await init('--yes')
    expect(printed).toContain("+ require('hardhat-tandem')")
    expect(printed).toContain('+     "hardhat-tandem": "^0.1.0",')
    expect(text('hardhat.config.js')).toBe(
      "require('@nomicfoundation/hardhat-toolbox')\nrequire('hardhat-tandem')\n\nmodule.exports = { solidity: '0.8.24' }\n",
    )
    expect(JSON.parse(text('package.json'))).toEqual({
      name: 'app',
      devDependencies: { hardhat: '^2.22.0', 'hardhat-tandem': '^0.1.0', tandem: '^0.1.0', zeta: '1.0.0' },
      scripts: { 'test:tandem': 'hardhat test --network tandem' },
    })
    expect(text('.gitignore')).toBe('node_modules\n.tandem/\n')
    expect(await init('--yes')).toBe('Nothing to change: this project of hardhat has Tandem already.')
  })

  it.each([
    [
      'import { defineConfig } from "hardhat/config";\n\nexport default defineConfig({\n  solidity: "0.8.28",\n});\n',
      'import { defineConfig } from "hardhat/config";\nimport { tandem } from "hardhat-tandem/3";\n\nexport default defineConfig({\n  plugins: [tandem],\n  solidity: "0.8.28",\n});\n',
    ],
    [
      'import toolbox from "x";\nexport default defineConfig({\n  plugins: [toolbox],\n});\n',
      'import toolbox from "x";\nimport { tandem } from "hardhat-tandem/3";\nexport default defineConfig({\n  plugins: [tandem, toolbox],\n});\n',
    ],
    [
      "import type { HardhatUserConfig } from 'hardhat/config'\nconst config: HardhatUserConfig = { plugins: [] }\nexport default config\n",
      "import type { HardhatUserConfig } from 'hardhat/config'\nimport { tandem } from 'hardhat-tandem/3'\nconst config: HardhatUserConfig = { plugins: [tandem] }\nexport default config\n",
    ],
    [
      "export default { solidity: '0.8.28' }\n",
      "import { tandem } from 'hardhat-tandem/3'\nexport default { plugins: [tandem], solidity: '0.8.28' }\n",
    ],
  ])('adds the plugin to a configuration of Hardhat 3: %j', async (before, after) => {
    write({ 'package.json': '{ "devDependencies": { "hardhat": "^3.0.0" } }\n', 'hardhat.config.ts': before })
    await init('--yes')
    expect(text('hardhat.config.ts')).toBe(after)
    expect(await init('--yes')).toContain('Nothing to change')
  })

  it('names what to add where the configuration has another form', async () => {
    const manifest = '{ "devDependencies": { "hardhat": "^3.0.0" } }\n'
    write({ 'package.json': manifest, 'hardhat.config.ts': 'export { config as default } from "./other"\n' })
    await expect(init('--yes')).rejects.toThrow(
      "import { tandem } from 'hardhat-tandem/3', and plugins: [tandem]",
    )
    expect(text('package.json')).toBe(manifest)
  })

  it.each([
    [
      '[profile.default]\nsrc = "src"\n',
      '[profile.default]\nsrc = "src"\n\n[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\n',
    ],
    [
      '[rpc_endpoints]\nmain = "x"\n\n[fmt]\n',
      '[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\nmain = "x"\n\n[fmt]\n',
    ],
  ])('names the node in foundry.toml: %j', async (before, after) => {
    write({ 'foundry.toml': before })
    const printed = await init('--yes')
    expect(text('foundry.toml')).toBe(after)
    expect(printed).toContain('npm install --save-dev tandem')
    expect(await init('--yes')).toContain('Nothing to change')
  })

  it('adds a test to a project of viem or ethers, and keeps what is there', async () => {
    write({
      'package.json':
        '{\n\t"scripts": {\n\t\t"test": "my-runner"\n\t},\n\t"dependencies": { "viem": "^2" },\n\t"devDependencies": { "vitest": "^4" }\n}\n',
    })
    await init('--yes')
    expect(JSON.parse(text('package.json'))).toMatchObject({
      scripts: { test: 'my-runner' },
      devDependencies: { tandem: '^0.1.0', vitest: '^4' },
    })
    expect(text('package.json')).toContain('\n\t"scripts"')
    expect(text('test/tandem.test.mjs')).toContain("from 'tandem/vitest'")
    write({ 'test/tandem.test.mjs': '// mine\n' })
    expect(await init('--yes')).toContain('Nothing to change')
    expect(text('test/tandem.test.mjs')).toBe('// mine\n')
  })

  it('refuses a folder without a known project', async () => {
    await expect(init('--yes')).rejects.toThrow('holds no project of a known kind')
    write({ 'package.json': 'no json', 'foundry.toml': '' })
    await expect(init('--yes')).rejects.toThrow('is not the manifest of a package')
  })
})

describe('init in projects of other forms', () => {
  const H3 = '{ "devDependencies": { "hardhat": "latest" } }\n'

  it.each([
    [
      'comments, and imports over several lines',
      'import {\n  defineConfig,\n} from "hardhat/config";\n// plugins: [old], hardhat-tandem\nexport default defineConfig({\n  /* plugins: [] */\n  solidity: "0.8.28",\n});\n',
      'import {\n  defineConfig,\n} from "hardhat/config";\nimport { tandem } from "hardhat-tandem/3";\n// plugins: [old], hardhat-tandem\nexport default defineConfig({\n  plugins: [tandem],\n  /* plugins: [] */\n  solidity: "0.8.28",\n});\n',
    ],
    [
      'a list over several lines, and one of another plugin before it',
      "import type { HardhatUserConfig } from 'hardhat/config'\nconst config: HardhatUserConfig = {\n  docs: { plugins: ['x'] },\n  plugins: [\n    toolbox,\n  ],\n}\nexport default config\n",
      "import type { HardhatUserConfig } from 'hardhat/config'\nimport { tandem } from 'hardhat-tandem/3'\nconst config: HardhatUserConfig = {\n  docs: { plugins: ['x'] },\n  plugins: [\n    tandem,\n    toolbox,\n  ],\n}\nexport default config\n",
    ],
    [
      'an import without its end on the line, and lines of Windows',
      "import toolbox\r\n  from '@x/toolbox'\r\nexport default {\r\n  plugins: [ toolbox ],\r\n} satisfies HardhatUserConfig\r\n",
      "import toolbox\r\n  from '@x/toolbox'\r\nimport { tandem } from 'hardhat-tandem/3'\r\nexport default {\r\n  plugins: [ tandem, toolbox ],\r\n} satisfies HardhatUserConfig\r\n",
    ],
    [
      'brackets in texts, and an empty object',
      "import { a } from './a({['\nexport default {}\n",
      "import { a } from './a({['\nimport { tandem } from 'hardhat-tandem/3'\nexport default { plugins: [tandem] }\n",
    ],
  ])('changes a configuration of Hardhat 3 with %s', async (_, before, after) => {
    write({ 'package.json': H3, 'hardhat.config.ts': before })
    await init('--yes')
    expect(text('hardhat.config.ts')).toBe(after)
    expect(() => parseAst(after, { lang: 'ts' })).not.toThrow()
    expect(await init('--yes')).toContain('Nothing to change')
  })

  it.each(['plugins: mine', 'plugins', '...{ plugins: mine }'])(
    'leaves a configuration alone whose list is elsewhere: %s',
    async (member) => {
      const config = `const mine = []\nexport default { ${member} }\n`
      write({ 'package.json': H3, 'hardhat.config.ts': config })
      await expect(init('--yes')).rejects.toThrow('has a form that cannot be changed here')
      expect(text('hardhat.config.ts')).toBe(config)
    },
  )

  it.each([
    [
      "#!/usr/bin/env node\n'use strict'\n\n/** import x\nimport x\n*/\nmodule.exports = {}\n",
      "#!/usr/bin/env node\n'use strict'\nrequire('hardhat-tandem')\n\n/** import x\nimport x\n*/\nmodule.exports = {}\n",
    ],
    [
      'const {\n  a,\n} = require(\n  "x",\n);\nmodule.exports = { a };\n',
      'const {\n  a,\n} = require(\n  "x",\n);\nrequire("hardhat-tandem");\nmodule.exports = { a };\n',
    ],
    [
      "const text = `\nconst a = require('b')\n`\nmodule.exports = { text }\n",
      "require('hardhat-tandem')\nconst text = `\nconst a = require('b')\n`\nmodule.exports = { text }\n",
    ],
  ])('requires the plugin of Hardhat 2 where a statement can be: %j', async (before, after) => {
    write({ 'package.json': H3, 'hardhat.config.cjs': before })
    await init('--yes')
    expect(text('hardhat.config.cjs')).toBe(after)
  })

  it('finds the Hardhat of a monorepo above the folder', async () => {
    write({
      'node_modules/hardhat/package.json': '{ "version": "2.22.0" }',
      'packages/app/package.json': '{ "devDependencies": { "hardhat": "*" } }\n',
      'packages/app/hardhat.config.ts': 'export default {}\n',
    })
    await init(join(dir, 'packages/app'), '--yes')
    expect(text('packages/app/hardhat.config.ts')).toBe("import 'hardhat-tandem'\nexport default {}\n")
  })

  it.each([
    [
      'a comment',
      '[rpc_endpoints] # ours\r\nmain = "x"\r\n',
      '[rpc_endpoints] # ours\r\ntandem = "http://127.0.0.1:8545"\r\nmain = "x"\r\n',
    ],
    [
      'quotes',
      '["rpc_endpoints"]\nmain = "x"',
      '["rpc_endpoints"]\ntandem = "http://127.0.0.1:8545"\nmain = "x"',
    ],
    ['spaces', '[ rpc_endpoints ]\n', '[ rpc_endpoints ]\ntandem = "http://127.0.0.1:8545"\n'],
    [
      'its name in a text',
      'x = """\n[rpc_endpoints]\n"""\n',
      'x = """\n[rpc_endpoints]\n"""\n\n[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\n',
    ],
    ['nothing', '', '[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\n'],
    ['a table of that name', '[rpc_endpoints.tandem]\nurl = "x"\n', '[rpc_endpoints.tandem]\nurl = "x"\n'],
  ])('finds the table of foundry.toml with %s', async (_, before, after) => {
    write({ 'foundry.toml': before })
    await init('--yes')
    expect(text('foundry.toml')).toBe(after)
  })

  it.each([
    ['rpc_endpoints.main = "x"\n', 'Add to rpc_endpoints by hand: tandem = "http://127.0.0.1:8545"'],
    ['rpc_endpoints = { main = "x" }\n', 'Add to rpc_endpoints by hand'],
    ['rpc_endpoints = 1\n', 'Add to rpc_endpoints by hand'],
    ['[profile\n', 'is malformed'],
  ])('leaves a foundry.toml alone that it cannot change: %j', async (before, message) => {
    write({ 'foundry.toml': before })
    await expect(init('--yes')).rejects.toThrow(message)
    expect(text('foundry.toml')).toBe(before)
  })

  it('keeps line ends, indent, byte order mark and other sections of a manifest', async () => {
    const before =
      '\ufeff{\r\n    "config": {\r\n        "scripts": {\r\n            "a": "b"\r\n        }\r\n    },\r\n    "peerDependencies": {\r\n        "viem": "2"\r\n    },\r\n    "dependencies": null\r\n}\r\n'
    write({ 'package.json': before })
    await init('--yes')
    const added =
      ',\r\n    "devDependencies": {\r\n        "tandem": "^0.1.0"\r\n    },\r\n    "scripts": {\r\n        "test": "node --test"\r\n    }\r\n}\r\n'
    expect(text('package.json')).toBe(before.replace(/\r\n\}\r\n$/, added))
  })

  it.each([
    ['mocha', 'mjs', "import { useNode } from 'tandem/mocha'", 'npx mocha test/tandem.test.mjs'],
    ['jest', 'js', 'tandem/jest */', 'npx jest test/tandem.test.js'],
  ])('adds a test for %s', async (runner, extension, sign, command) => {
    const manifest = { scripts: { test: 'make' }, devDependencies: { viem: '2', [runner]: '*' } }
    write({ 'package.json': JSON.stringify(manifest) })
    expect(await init('--yes')).toContain(command)
    expect(text(`test/tandem.test.${extension}`)).toContain(sign)
  })

  it('writes through a link, with the access that the file has', async () => {
    write({ 'shared/package.json': '{ "dependencies": { "viem": "2" } }\n' })
    chmodSync(join(dir, 'shared/package.json'), 0o640)
    symlinkSync('shared/package.json', join(dir, 'package.json'))
    await init('--yes')
    expect(text('shared/package.json')).toContain('tandem')
    expect(statSync(join(dir, 'package.json')).mode & 0o777).toBe(0o640)
    expect(lstatSync(join(dir, 'package.json')).isSymbolicLink()).toBe(true)
  })

  it('writes nothing where a later file cannot be written', async () => {
    const manifest = '{ "dependencies": { "viem": "2" } }\n'
    // A folder cannot be made inside a file, whoever asks.
    write({ 'package.json': manifest, tests: '' })
    await expect(init('--yes')).rejects.toThrow('tests/tandem.test.mjs cannot be written')
    expect(text('package.json')).toBe(manifest)
  })

  it('names a folder that is missing', async () => {
    await expect(init(join(dir, 'absent'), '--yes')).rejects.toThrow(/^There is no folder .*absent\.$/)
  })
})

describe('differences', () => {
  it('show changed lines, and two around them', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n'
    expect(lineDiff(before, 'a\nb\nc\nX\nd\ne\nf\ng\nh\ni\n')).toEqual([
      '  b',
      '  c',
      '+ X',
      '  d',
      '  e',
      '  …',
      '  h',
      '  i',
      '- j',
    ])
    expect(lineDiff('', 'a\n')).toEqual(['+ a'])
    expect(lineDiff('a\n', 'a\n')).toEqual([])
  })

  it('of a manifest are the new lines', () => {
    expect(lineDiff(MANIFEST, withMember(MANIFEST, 'devDependencies', 'tandem', '1'))).toEqual([
      '    "devDependencies": {',
      '      "hardhat": "^2.22.0",',
      '+     "tandem": "1",',
      '      "zeta": "1.0.0"',
      '    }',
    ])
    const last = withMember(MANIFEST, 'devDependencies', 'zz', '1')
    expect(last).toContain('"zeta": "1.0.0",\n    "zz": "1"\n  }')
  })
})
