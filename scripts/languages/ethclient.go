// Decodes answers of a node as go-ethereum's ethclient does, with the standard library alone: the required members of its
// generated decoders (core/types/gen_*_json.go), and the number forms of common/hexutil. Prints what is refused; the exit code
// is 1 where anything is.
//
//	go run ethclient.go http://127.0.0.1:4444
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
)

func text(input []byte) (string, error) {
	var value string
	if err := json.Unmarshal(input, &value); err != nil {
		return "", errors.New("non-string")
	}
	if !strings.HasPrefix(value, "0x") {
		return "", errors.New("hex string without 0x prefix")
	}
	return value[2:], nil
}

// Quantity is hexutil.Big and hexutil.Uint64: no empty text, no leading zeros.
type Quantity struct{ big.Int }

func (q *Quantity) UnmarshalJSON(input []byte) error {
	digits, err := text(input)
	if err != nil {
		return err
	}
	if digits == "" {
		return errors.New("empty hex number")
	}
	if len(digits) > 1 && digits[0] == '0' {
		return errors.New("hex number with leading zero digits")
	}
	if len(digits) > 64 {
		return errors.New("hex number > 256 bits")
	}
	if _, ok := q.SetString(digits, 16); !ok {
		return errors.New("invalid hex number")
	}
	return nil
}

// Uint64 is hexutil.Uint64.
type Uint64 struct{ Quantity }

func (u *Uint64) UnmarshalJSON(input []byte) error {
	if err := u.Quantity.UnmarshalJSON(input); err != nil {
		return err
	}
	if !u.IsUint64() {
		return errors.New("hex number > 64 bits")
	}
	return nil
}

// Bytes is hexutil.Bytes.
type Bytes []byte

func (b *Bytes) UnmarshalJSON(input []byte) error {
	digits, err := text(input)
	if err != nil {
		return err
	}
	*b, err = hex.DecodeString(digits)
	return err
}

func fixed(input []byte, length int) error {
	var b Bytes
	if err := b.UnmarshalJSON(input); err != nil {
		return err
	}
	if len(b) != length {
		return fmt.Errorf("hex string has %d bytes, want %d", len(b), length)
	}
	return nil
}

// Hash, Address, Bloom and Nonce have a fixed length.
type Hash struct{}
type Address struct{}
type Bloom struct{}
type Nonce struct{}

func (*Hash) UnmarshalJSON(input []byte) error    { return fixed(input, 32) }
func (*Address) UnmarshalJSON(input []byte) error { return fixed(input, 20) }
func (*Bloom) UnmarshalJSON(input []byte) error   { return fixed(input, 256) }
func (*Nonce) UnmarshalJSON(input []byte) error   { return fixed(input, 8) }

type Header struct {
	ParentHash  *Hash     `json:"parentHash" required:"yes"`
	UncleHash   *Hash     `json:"sha3Uncles" required:"yes"`
	Coinbase    *Address  `json:"miner"`
	Root        *Hash     `json:"stateRoot" required:"yes"`
	TxHash      *Hash     `json:"transactionsRoot" required:"yes"`
	ReceiptHash *Hash     `json:"receiptsRoot" required:"yes"`
	Bloom       *Bloom    `json:"logsBloom" required:"yes"`
	Difficulty  *Quantity `json:"difficulty" required:"yes"`
	Number      *Quantity `json:"number" required:"yes"`
	GasLimit    *Uint64   `json:"gasLimit" required:"yes"`
	GasUsed     *Uint64   `json:"gasUsed" required:"yes"`
	Time        *Uint64   `json:"timestamp" required:"yes"`
	Extra       *Bytes    `json:"extraData" required:"yes"`
	MixDigest   *Hash     `json:"mixHash"`
	Nonce       *Nonce    `json:"nonce"`
	BaseFee     *Quantity `json:"baseFeePerGas"`
}

type Transaction struct {
	Type        *Uint64   `json:"type"`
	ChainID     *Quantity `json:"chainId"`
	Nonce       *Uint64   `json:"nonce" required:"yes"`
	To          *Address  `json:"to"`
	Gas         *Uint64   `json:"gas" required:"yes"`
	GasPrice    *Quantity `json:"gasPrice" required:"yes"`
	Value       *Quantity `json:"value" required:"yes"`
	Input       *Bytes    `json:"input" required:"yes"`
	V           *Quantity `json:"v" required:"yes"`
	R           *Quantity `json:"r" required:"yes"`
	S           *Quantity `json:"s" required:"yes"`
	Hash        *Hash     `json:"hash"`
	BlockNumber *string   `json:"blockNumber"`
	BlockHash   *Hash     `json:"blockHash"`
	From        *Address  `json:"from"`
}

type Body struct {
	Hash         *Hash         `json:"hash"`
	Transactions []Transaction `json:"transactions"`
	UncleHashes  []Hash        `json:"uncles"`
}

type Log struct {
	Address     *Address `json:"address" required:"yes"`
	Topics      []Hash   `json:"topics" required:"yes"`
	Data        *Bytes   `json:"data" required:"yes"`
	BlockNumber *Uint64  `json:"blockNumber"`
	TxHash      *Hash    `json:"transactionHash" required:"yes"`
	TxIndex     *Uint64  `json:"transactionIndex"`
	BlockHash   *Hash    `json:"blockHash"`
	Index       *Uint64  `json:"logIndex"`
	Removed     *bool    `json:"removed"`
}

type Receipt struct {
	Type              *Uint64   `json:"type"`
	PostState         *Bytes    `json:"root"`
	Status            *Uint64   `json:"status"`
	CumulativeGasUsed *Uint64   `json:"cumulativeGasUsed" required:"yes"`
	Bloom             *Bloom    `json:"logsBloom" required:"yes"`
	Logs              []Log     `json:"logs" required:"yes"`
	TxHash            *Hash     `json:"transactionHash" required:"yes"`
	ContractAddress   *Address  `json:"contractAddress"`
	GasUsed           *Uint64   `json:"gasUsed" required:"yes"`
	EffectiveGasPrice *Quantity `json:"effectiveGasPrice"`
	BlockHash         *Hash     `json:"blockHash"`
	BlockNumber       *Quantity `json:"blockNumber"`
	TransactionIndex  *Uint64   `json:"transactionIndex"`
}

type FeeHistory struct {
	OldestBlock  *Quantity    `json:"oldestBlock"`
	Reward       [][]Quantity `json:"reward"`
	BaseFee      []Quantity   `json:"baseFeePerGas"`
	GasUsedRatio []float64    `json:"gasUsedRatio"`
}

// The roots of empty lists, which go-ethereum compares with the lists of a block.
const (
	emptyUncles       = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"
	emptyTransactions = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
)

// lists is the quick check of ethclient's getBlock.
func lists(url, tag string) error {
	var block struct {
		UncleHash    string            `json:"sha3Uncles"`
		TxHash       string            `json:"transactionsRoot"`
		Transactions []json.RawMessage `json:"transactions"`
		Uncles       []string          `json:"uncles"`
	}
	if err := call(url, "eth_getBlockByNumber", &block, tag, true); err != nil {
		return err
	}
	if (block.UncleHash == emptyUncles) != (len(block.Uncles) == 0) {
		return errors.New("the uncle list does not fit the block header")
	}
	if (block.TxHash == emptyTransactions) != (len(block.Transactions) == 0) {
		return errors.New("the transaction list does not fit the block header")
	}
	return nil
}

var failed int

func report(what string, err error) {
	if err == nil {
		fmt.Println("ok", what)
		return
	}
	failed++
	fmt.Println("FAILED", what+":", err)
}

// call decodes an answer, and then checks its required members.
func call(url, method string, into interface{}, params ...interface{}) error {
	if params == nil {
		params = []interface{}{}
	}
	body, err := json.Marshal(map[string]interface{}{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var reply struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return fmt.Errorf("%d %s", reply.Error.Code, reply.Error.Message)
	}
	if err := json.Unmarshal(reply.Result, into); err != nil {
		return err
	}
	return complete(into)
}

func main() {
	url := os.Args[1]
	var number Uint64
	report("eth_blockNumber", call(url, "eth_blockNumber", &number))
	for _, method := range []string{"eth_chainId", "eth_gasPrice", "net_peerCount", "eth_maxPriorityFeePerGas"} {
		var quantity Quantity
		report(method, call(url, method, &quantity))
	}
	var fees FeeHistory
	report("eth_feeHistory", call(url, "eth_feeHistory", &fees, "0x2", "latest", []float64{25, 75}))
	var syncing interface{}
	report("eth_syncing", call(url, "eth_syncing", &syncing))
	for height := uint64(0); height <= number.Uint64(); height++ {
		tag := fmt.Sprintf("0x%x", height)
		var header Header
		report("header "+tag, call(url, "eth_getBlockByNumber", &header, tag, false))
		var body Body
		report("block "+tag, call(url, "eth_getBlockByNumber", &body, tag, true))
		report("lists of "+tag, lists(url, tag))
		var receipts []Receipt
		report("receipts "+tag, call(url, "eth_getBlockReceipts", &receipts, tag))
		if len(receipts) != len(body.Transactions) {
			report("receipts "+tag, fmt.Errorf("%d of %d", len(receipts), len(body.Transactions)))
		}
	}
	var logs []Log
	query := map[string]interface{}{"fromBlock": "0x0", "toBlock": "latest", "address": []string{}, "topics": []interface{}{}}
	report("eth_getLogs", call(url, "eth_getLogs", &logs, query))
	if len(logs) == 0 {
		report("eth_getLogs", errors.New("no logs were found"))
	}
	zero := "0x0000000000000000000000000000000000000000"
	var data Bytes
	message := map[string]interface{}{"from": zero, "to": zero, "input": "0x", "value": "0x0"}
	report("eth_call", call(url, "eth_call", &data, message, "latest"))
	report("eth_getCode", call(url, "eth_getCode", &data, zero, "latest"))
	report("eth_getStorageAt", call(url, "eth_getStorageAt", &data, zero, "0x0", "latest"))
	var gas Uint64
	report("eth_estimateGas", call(url, "eth_estimateGas", &gas, message))
	report("eth_getTransactionCount", call(url, "eth_getTransactionCount", &gas, zero, "pending"))
	var balance Quantity
	report("eth_getBalance", call(url, "eth_getBalance", &balance, zero, "latest"))
	var none *Transaction
	unknown := "0x" + strings.Repeat("9", 64)
	report("an unknown transaction", call(url, "eth_getTransactionByHash", &none, unknown))
	if none != nil {
		report("an unknown transaction", errors.New("it is not null"))
	}
	if failed > 0 {
		os.Exit(1)
	}
}
