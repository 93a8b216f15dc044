// What `function new` writes: a folder that works, in each language.

import type {FunctionLanguage} from '../../api/function-languages.js';

const python = `def main(params):
    name = params.get("name", "world")
    return {"greeting": f"Hello, {name}!"}
`;

const nodejs = `export default function main(params) {
	const {name = 'world'} = params;
	return {greeting: \`Hello, \${name}!\`};
}
`;

export const templates: Readonly<Record<FunctionLanguage, Readonly<Record<string, string>>>> = {
	python: {'func.py': python},
	nodejs: {'func.mjs': nodejs},
};
