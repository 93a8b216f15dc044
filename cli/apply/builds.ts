// Images that a compose file says how to build: built by the Engine of every node before anything is written, and known again by what they were
// built from, so that a change of it reaches the pods.

import {stripVTControlCharacters} from 'node:util';
import type {ComposeBuild} from '../../api/compose/build.js';
import {AppError} from '../../api/errors.js';
import {buildLabel} from '../../api/image-news.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {asAppError, type Invocation} from '../command.js';
import {bringTo} from '../image/bring.js';
import {readContext, type Context} from '../image/context.js';
import {everywhere} from '../image/everywhere.js';
import {imagesOf} from '../image/list.js';
import {imageNodes} from '../image/nodes.js';
import {placeText} from '../manifests/faults.js';
import type {ManifestDocument} from '../manifests/manifest.js';
import type {Manifests} from '../manifests/manifest-files.js';
import type {Terminal} from '../screen/terminal.js';

/** Reads the folders that images are built from; pods that have such an image have an annotation that says from what. */
export async function withContexts(manifests: Manifests): Promise<Manifests> {
	if (manifests.faults.length > 0) return manifests;
	const faults = [...manifests.faults];
	const documents: ManifestDocument[] = [];
	for (const document of manifests.documents) {
		const {build, value} = document;
		if (build === undefined) documents.push(document);
		else
			try {
				const {hash} = await readContext(build.context, build.build);
				documents.push({...document, build: {...build, hash}, value: annotated(value, hash)});
			} catch (error) {
				if (!(error instanceof AppError)) throw error;
				faults.push({place: build.place, message: `${build.path}: ${error.message}`, code: 'ERR_INVALID'});
			}
	}
	return {...manifests, documents, faults};
}

const memberOf = (object: JsonObject, key: string): JsonObject => {
	const member = object[key];
	return isObject(member) ? member : {};
};

/** On the pods of a workload. */
function annotated(workload: JsonObject, hash: string): JsonObject {
	// A Job does its work once, and its pods cannot be changed.
	if (workload['kind'] === 'Job') return workload;
	const spec = memberOf(workload, 'spec');
	const template = memberOf(spec, 'template');
	const metadata = memberOf(template, 'metadata');
	const annotations = {...memberOf(metadata, 'annotations'), [buildLabel]: hash};
	return {...workload, spec: {...spec, template: {...template, metadata: {...metadata, annotations}}}};
}

/** Builds what nodes do not have yet, one service after the other; the exit code. */
export async function buildImages(client: Client, {terminal}: Invocation, {documents}: Manifests): Promise<number> {
	const builds = documents.flatMap(({build}) => (build?.hash === undefined ? [] : [{...build, hash: build.hash}]));
	if (builds.length === 0) return 0;
	const nodes = await imageNodes(client, []).catch((error: unknown) => {
		terminal.note(`note: nothing is built: ${asAppError(error).message}; apply again when there is one`);
		return [];
	});
	if (nodes.length === 0) return 0;
	for (const build of builds) if (!(await buildOn(client, terminal, nodes, build))) return 1;
	return 0;
}

type Hashed = NonNullable<ManifestDocument['build']> & {readonly hash: string};

async function buildOn(client: Client, terminal: Terminal, nodes: readonly string[], wanted: Hashed): Promise<boolean> {
	const {service, context: folder, build, hash, path, place} = wanted;
	const context = await readContext(folder, build);
	const labelled = {...build, labels: {...build.labels, [buildLabel]: hash}};
	const results = await everywhere(terminal, `building ${service}`, nodes, async (node, show) => {
		const isThere = (await imagesOf(client, node)).some(
			image => image.build === hash && image.names.some(name => isNamed(name, build.tag)),
		);
		if (isThere) return 'there already';
		return buildAt(client, node, labelled, context, show);
	});
	const failures = results.flatMap(result => ('problem' in result ? [result] : []));
	for (const {node, problem} of failures) terminal.error(`${placeText(place)}: ${path}: ${node}: ${problem}`);
	if (failures.length > 0) terminal.error(`nothing was applied: the image of ${service} could not be built`);
	const built = results.flatMap(result => ('done' in result && result.done === 'built' ? [result.node] : []));
	if (built.length > 0) terminal.note(`note: ${build.tag} was built on ${built.join(', ')}`);
	return failures.length === 0;
}

/** As the Engine tells names: without its own registry, and with a tag. */
const isNamed = (name: string, tag: string): boolean => name === tag || name === `${tag}:latest`;

/** Rejects with what the Engine says, behind the last that it wrote. */
async function buildAt(
	client: Client,
	node: string,
	build: ComposeBuild['build'],
	context: Context,
	show: (text: string) => void,
): Promise<string> {
	let said = '';
	try {
		await bringTo(client, node, {action: 'build', build, archive: context.archive}, news => {
			if (!('said' in news)) return;
			said = `${said}${news.said}`.slice(-limits.buildTailCharacters);
			const last = linesOf(news.said).at(-1);
			if (last !== undefined) show(last);
		});
	} catch (error) {
		const lines = linesOf(said).slice(-limits.buildLines);
		if (!(error instanceof AppError) || lines.length === 0) throw error;
		throw new AppError(error.code, {
			message: [error.message, 'the last lines of its build:', ...lines.map(line => `  ${line}`)].join('\n'),
		});
	}
	return 'built';
}

/** Without colours and empty lines. */
const linesOf = (text: string): readonly string[] =>
	stripVTControlCharacters(text)
		.split(/[\r\n]+/)
		.filter(line => line.trim() !== '');
