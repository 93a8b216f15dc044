// What `function new` writes: a folder that works, in each language.

import type {Language} from '../../agent/functions/start-runner.js';

const python = `def main(params):
    name = params.get("name", "world")
    return {"greeting": f"Hello, {name}!"}
`;

const nodejs = `export default function main(params) {
	const {name = 'world'} = params;
	return {greeting: \`Hello, \${name}!\`};
}
`;

export const templates: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
	python: {'func.py': python},
	nodejs: {'func.mjs': nodejs},
};
