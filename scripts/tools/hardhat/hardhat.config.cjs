/** A Hardhat 2 project as its users write them; only the compiler is taken from npm, so that nothing is downloaded. */
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')
require('@nomicfoundation/hardhat-chai-matchers')
require('@nomicfoundation/hardhat-ethers')
require('@nomicfoundation/hardhat-ignition-ethers')

const longVersion = require('solc').version()
const version = longVersion.replace(/\+.*/, '')

subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD).setAction(async () => ({
  compilerPath: require.resolve('solc/soljson.js'),
  isSolcJs: true,
  version,
  longVersion,
}))

const { MOCHA_REPORT } = process.env

module.exports = {
  solidity: { version, settings: { evmVersion: 'cancun', optimizer: { enabled: true, runs: 200 } } },
  networks: {
    hardhat: { hardfork: 'cancun', blockGasLimit: 30_000_000 },
    localhost: { url: process.env.NODE_URL ?? 'http://127.0.0.1:8545' },
  },
  paths: {
    artifacts: '../../../.build/tools/hardhat/artifacts',
    cache: '../../../.build/tools/hardhat/cache',
  },
  mocha: MOCHA_REPORT ? { reporter: 'json', reporterOptions: { output: MOCHA_REPORT } } : {},
}
