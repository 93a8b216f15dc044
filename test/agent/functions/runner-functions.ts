// The functions that the contract of runners is held against, in each language: what is told of one holds for the other.

export type FunctionName =
	| 'echo'
	| 'fields'
	| 'answers'
	| 'numbers'
	| 'numbersAsync'
	| 'ticks'
	| 'flood'
	| 'throws'
	| 'throwsNamed'
	| 'unknownToJson'
	| 'large'
	| 'gate'
	| 'sleeps'
	| 'prints'
	| 'cannotLoad';

export type Sources = Readonly<Record<FunctionName, string>>;

/** Each is `func.py`. */
export const pythonFunctions: Sources = {
	echo: `
def main(params):
    return params
`,
	fields: `
def main(params, request):
    return {
        "params": params, "id": request.id, "method": request.method, "path": request.path, "query": request.query,
        "type": request.headers.get("content-type"), "test": request.headers.get("x-test"), "body": request.body.decode(),
    }
`,
	answers: `
def main(params, request):
    if params["form"] == "text": return request.answer("grüße")
    if params["form"] == "bytes": return request.answer(bytes([0, 255, 10]))
    if params["form"] == "iterator": return request.answer(iter(["one ", b"two ", "", "three"]))
    if params["form"] == "nothing": return request.answer(None)
    if params["form"] == "value": return request.answer({"a": [1]})
    return request.answer("x", params["status"], params["headers"])
`,
	numbers: `
def main(params):
    for number in range(params["count"]):
        if number == params.get("failAt"): raise ValueError("no more")
        yield {"n": number}
`,
	numbersAsync: `
import asyncio
async def main(params):
    for number in range(params["count"]):
        await asyncio.sleep(0)
        if number == params.get("failAt"): raise ValueError("no more")
        yield {"n": number}
`,
	ticks: `
import time
def main(params):
    try:
        while True:
            yield "tick"
            time.sleep(0.01)
    finally:
        print("closed")
`,
	flood: `
def main(params):
    try:
        while True: yield "x" * 65536
    finally:
        print("closed")
`,
	throws: `
def deeper():
    raise ValueError("out of grüße")
async def main(params):
    deeper()
`,
	throwsNamed: `
class CardDeclined(ValueError):
    pass
def main(params):
    raise {"own": CardDeclined("no money"), "usual": TypeError("no number"), "silent": CardDeclined()}[params["how"]]
`,
	unknownToJson: `
def main(params):
    return {1, 2}
`,
	large: `
def main(params, request):
    text = "x" * params["bytes"]
    return request.answer(text) if params.get("plain") else text
`,
	gate: `
import asyncio, os
async def main(params):
    print("begun " + params["name"], end="", flush=True)
    print()
    print("half of " + params["name"], end="")
    while not os.path.exists("open"): await asyncio.sleep(0.02)
    print(", whole of " + params["name"])
    return params["name"]
`,
	sleeps: `
import asyncio
async def main(params):
    if params.get("ms"): await asyncio.sleep(params["ms"] / 1000)
    return "woke"
`,
	prints: `
import sys
def main(params):
    print("one\\ntwo")
    print("aside", file=sys.stderr)
    sys.stdout.write("no end")
`,
	cannotLoad: `
raise RuntimeError("not today")
`,
};

/** Each is `func.mjs`. */
export const nodeFunctions: Sources = {
	echo: `
export default params => params;
`,
	fields: `
export default (params, request) => ({
	params, id: request.id, method: request.method, path: request.path, query: request.query,
	type: request.headers['content-type'], test: request.headers['x-test'], body: request.body.toString(),
});
`,
	answers: `
export default (params, request) => {
	if (params.form === 'text') return request.answer('grüße');
	if (params.form === 'bytes') return request.answer(Buffer.from([0, 255, 10]));
	if (params.form === 'iterator') return request.answer(['one ', Buffer.from('two '), '', 'three'][Symbol.iterator]());
	if (params.form === 'nothing') return request.answer(undefined);
	if (params.form === 'value') return request.answer({a: [1]});
	return request.answer('x', {status: params.status, headers: params.headers});
};
`,
	numbers: `
export default function* (params) {
	for (let number = 0; number < params.count; number++) {
		if (number === params.failAt) throw new Error('no more');
		yield {n: number};
	}
}
`,
	numbersAsync: `
export default async function* (params) {
	for (let number = 0; number < params.count; number++) {
		await undefined;
		if (number === params.failAt) throw new Error('no more');
		yield {n: number};
	}
}
`,
	ticks: `
import {setTimeout} from 'node:timers/promises';
export default async function* () {
	try {
		for (;;) {
			yield 'tick';
			await setTimeout(10);
		}
	} finally {
		console.log('closed');
	}
}
`,
	flood: `
export default function* () {
	try {
		for (;;) yield 'x'.repeat(65536);
	} finally {
		console.log('closed');
	}
}
`,
	throws: `
function deeper() {
	throw new Error('out of grüße');
}
export default async () => deeper();
`,
	throwsNamed: `
class CardDeclined extends RangeError {}
const errors = {own: new CardDeclined('no money'), usual: new TypeError('no number'), silent: new CardDeclined()};
export default ({how}) => { throw errors[how]; };
`,
	unknownToJson: `
export default () => 1n;
`,
	large: `
export default (params, request) => {
	const text = 'x'.repeat(params.bytes);
	return params.plain ? request.answer(text) : text;
};
`,
	gate: `
import {existsSync} from 'node:fs';
import {setTimeout} from 'node:timers/promises';
export default async params => {
	console.log('begun ' + params.name);
	process.stdout.write('half of ' + params.name);
	while (!existsSync('open')) await setTimeout(20);
	console.log(', whole of ' + params.name);
	return params.name;
};
`,
	sleeps: `
import {setTimeout} from 'node:timers/promises';
export default async params => {
	if (params.ms) await setTimeout(params.ms);
	return 'woke';
};
`,
	prints: `
export default () => {
	console.log('one\\ntwo');
	console.error('aside');
	process.stdout.write('no end');
};
`,
	cannotLoad: `
throw new Error('not today');
`,
};
