/**
 * RIF Relay as `npx hardhat deploy --network regtest` of https://github.com/rsksmart/rif-relay-contracts leaves it on a new
 * local chain, at the addresses that its guide lists: the first transactions of the first account. On the public networks
 * each contract has other addresses.
 */
import type { Hex } from '../../encoding/hex.ts'
import type { Predeploy } from './model.ts'

/** The first account of the local chain of the reference node, owner of the verifiers. */
const OWNER = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const PENALIZER = '0x77045e71a7a2c50903d88e564cd72fab11e82051'
const OWNED = [[0n, BigInt(OWNER)]] as const

function contract(
  title: string,
  address: Hex,
  code: Predeploy['code'],
  storage: NonNullable<Predeploy['storage']> = [],
): Predeploy {
  const source = 'https://github.com/rsksmart/rif-relay-contracts'
  // Contracts begin with nonce 0 on this chain.
  return { title, address, source, licence: 'MIT', code, nonce: 0n, storage }
}

/** The contracts in the order in which they are deployed. */
export const RELAY: readonly Predeploy[] = [
  contract('Penalizer', PENALIZER, 'relay-Penalizer', [
    // versionPenalizer: 37 characters.
    [0n, 0x4bn],
    [
      0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563n,
      0x322e302e312b656e76656c6f70696e672e70656e616c697a65722e6970656e61n,
    ],
    [
      0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e564n,
      0x6c697a6572000000000000000000000000000000000000000000000000000000n,
    ],
  ]),
  contract('RelayHub', '0xda7ce79725418f4f6e13bf5f520c89cec5f6a974', 'relay-RelayHub', [
    // minimumStake, minimumUnstakeDelay, minimumEntryDepositValue, maxWorkerCount, penalizer, versionHub.
    [0n, 1n],
    [1n, 1n],
    [2n, 1n],
    [3n, 1n],
    [4n, BigInt(PENALIZER)],
    [5n, 0x322e302e312b656e76656c6f70696e672e6875622e6972656c6179687562003cn],
  ]),
  contract('SmartWallet', '0x83c5541a6c8d2dbad642f385d8d06ca9b6c731ee', 'relay-SmartWallet', [
    // The hash of the owner.
    [
      0xa7b53796fd2d99cb1f5ae019b54f9e024446c3d12b483f733ccc62ed04eb126an,
      0xa28629e41841cc5e702899227a10d8fd7debed9ce87f47a95dcc3bedd9a8a4efn,
    ],
  ]),
  contract('SmartWalletFactory', '0xe0825f57dd05ef62ff731c27222a86e104cc4cad', 'relay-SmartWalletFactory'),
  contract('DeployVerifier', '0x73ec81da0c72dd112e06c09a6ec03b5544d26f05', 'relay-DeployVerifier', OWNED),
  contract('RelayVerifier', '0x03f23ae1917722d5a27a2ea0bcc98725a2a2a49a', 'relay-RelayVerifier', OWNED),
]

/** The owner has sent their deployments. */
export const RELAY_NONCES: ReadonlyMap<Hex, bigint> = new Map<Hex, bigint>([[OWNER, BigInt(RELAY.length)]])
