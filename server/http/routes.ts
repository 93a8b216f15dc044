// Every path of the door and what answers there. The catalogue gives the Kubernetes-shaped ones, so a kind needs no line here.

import {apiRootOf, kinds, olderVersions} from '../../api/catalogue.js';
import {brokerConfigPath} from '../../api/broker-config.js';
import {functionFiguresPath} from '../../api/function-figures.js';
import {joinPath, tokensPath} from '../../api/join.js';
import {metricsPath, nodeMetricsPath, nodeTargetsPath, podTargetsPath} from '../../api/metrics.js';
import {routedCallPath} from '../../api/routed-call.js';
import {runAnswerPath, runHistoryPath, runPath} from '../../api/run-paths.js';
import type {KindDefinition} from '../../api/kind.js';
import {invokeResource} from '../../api/roles.js';
import {createRouter, type Router} from '../router.js';
import {actorsPath} from '../../api/inspect.js';
import {callResult, invoke} from './invoke.js';
import {invokeRouted} from './invoke-routed.js';
import {createToken, deleteToken, join, listTokens} from './access.js';
import {listActors, readActor} from './actors.js';
import {fetchArtifact, findArtifact, uploadArtifact} from './artifacts.js';
import {confirmLost} from './confirm-lost.js';
import {backup} from './backup.js';
import {readBrokerConfig} from './broker-config.js';
import {remove} from './delete.js';
import {coreVersions, groupInfo, groupList, groupVersions, openApi, resourceList, versionInfo} from './discovery.js';
import {listEvents, readEvent} from './events.js';
import {evict} from './eviction.js';
import type {Backend, Exchange, Handler, Target} from './exchange.js';
import {attach, exec} from './exec.js';
import {functionFigures} from './function-figures.js';
import {bringImage, listImages} from './images.js';
import {checkFromNode, checkFromPod} from './net-check.js';
import {list} from './list.js';
import {readLog} from './logs.js';
import {read} from './object-reply.js';
import {listNodeMetrics, listPodMetrics, readNodeMetrics, readPodMetrics} from './metrics.js';
import {podMetricsKind} from './metrics-kinds.js';
import {counters, limitsInfo, mqtt, normaliseDocument} from './own-routes.js';
import {openApiDocument, openApiIndex, openApiPath} from './openapi.js';
import {patch} from './patch.js';
import {portForward} from './port-forward.js';
import {flagOf} from './query.js';
import {retry} from './retry.js';
import {answerRun, readRun, readRunHistory} from './runs.js';
import {requireRight, type Verb} from './rights.js';
import {listNodeTargets, listPodTargets, scrapeNode, scrapeServer} from './scrape.js';
import {fetchCertificate, fetchSecret} from './secrets.js';
import {patchScale, readScale, replaceScale} from './scale.js';
import {watch} from './watch.js';
import {readArtifact, readJobLog} from './slurm-files.js';
import {why} from './why.js';
import {create, replace} from './write.js';

/** A path's handler, and what its errors are about. */
export type Route = {
	readonly handle: Handler;
	readonly targetOf?: (exchange: Exchange) => Target;
	/** What its requests are counted as, where they have no target; `other` is for all others. */
	readonly resource?: string;
};

type TargetHandler = (backend: Backend, exchange: Exchange, target: Target) => void | Promise<void>;

/** The router of the whole door. */
export function createRoutes(): Router<Route> {
	const router = createRouter<Route>();
	addDiscovery(router);
	addEvents(router);
	addMetrics(router);
	for (const kind of kinds) addKind(router, kind);
	for (const {kind} of olderVersions) addKind(router, kind);
	addOwn(router);
	return router;
}

function addDiscovery(router: Router<Route>): void {
	router.on('GET', '/version', {handle: versionInfo});
	router.on('GET', '/api', {handle: coreVersions});
	router.on('GET', '/apis', {handle: groupList});
	router.on('GET', '/openapi/v2', {handle: openApi});
	router.on('GET', '/openapi/v3', {handle: openApiIndex});
	for (const each of groupVersions()) router.on('GET', openApiPath(each), {handle: openApiDocument(each)});
	for (const {group, version} of groupVersions()) router.on('GET', apiRootOf({group, version}), {handle: resourceList(group, version)});
	for (const group of new Set(groupVersions().map(each => each.group)))
		if (group !== '') router.on('GET', `/apis/${group}`, {handle: groupInfo(group)});
}

function addEvents(router: Router<Route>): void {
	router.on('GET', '/api/v1/events', {handle: listEvents});
	router.on('GET', '/api/v1/namespaces/:namespace/events', {handle: listEvents});
	router.on('GET', '/api/v1/namespaces/:namespace/events/:name', {handle: readEvent});
}

function addMetrics(router: Router<Route>): void {
	const root = apiRootOf(podMetricsKind);
	router.on('GET', `${root}/nodes`, {handle: listNodeMetrics});
	router.on('GET', `${root}/nodes/:name`, {handle: readNodeMetrics});
	router.on('GET', `${root}/pods`, {handle: listPodMetrics});
	router.on('GET', `${root}/namespaces/:namespace/pods`, {handle: listPodMetrics});
	router.on('GET', `${root}/namespaces/:namespace/pods/:name`, {handle: readPodMetrics});
}

const metricsWord = 'metrics';

function addOwn(router: Router<Route>): void {
	router.on('GET', metricsPath, {handle: scrapeServer, resource: metricsWord});
	router.on('GET', nodeTargetsPath, {handle: listNodeTargets, resource: metricsWord});
	router.on('GET', nodeMetricsPath(':name'), {handle: scrapeNode, resource: metricsWord});
	router.on('GET', podTargetsPath, {handle: listPodTargets, resource: metricsWord});
	router.on('POST', '/troupe/v1/normalise', {handle: normaliseDocument});
	router.on('GET', actorsPath, {handle: listActors});
	router.on('GET', `${actorsPath}/:system`, {handle: readActor});
	router.on('GET', `${actorsPath}/:system/*`, {handle: readActor});
	router.on('GET', '/troupe/v1/why/:plural/:namespace/:name', {handle: why});
	router.on('POST', '/troupe/v1/nodes/:name/confirm-lost', {handle: confirmLost});
	router.on('GET', '/troupe/v1/nodes/:name/images', {handle: listImages});
	for (const method of ['GET', 'POST'] as const)
		for (const action of ['pull', 'load', 'build'] as const)
			router.on(method, `/troupe/v1/nodes/:name/images/${action}`, {handle: bringImage(action)});
	router.on('POST', '/troupe/v1/net/pods/:namespace/:name', {handle: checkFromPod});
	router.on('POST', '/troupe/v1/net/nodes/:name', {handle: checkFromNode});
	router.on('GET', '/troupe/v1/counters', {handle: counters});
	router.on('GET', functionFiguresPath, {handle: functionFigures});
	router.on('GET', '/troupe/v1/calls/:id', {handle: callResult});
	router.on('GET', runPath(':namespace', ':name'), {handle: readRun});
	router.on('GET', runHistoryPath(':namespace', ':name'), {handle: readRunHistory});
	router.on('POST', runAnswerPath(':namespace', ':name'), {handle: answerRun});
	router.on('GET', '/troupe/v1/mqtt', {handle: mqtt});
	router.on('GET', '/troupe/v1/limits', {handle: limitsInfo});
	router.on('GET', '/troupe/v1/backup', {handle: backup});
	router.on('GET', brokerConfigPath, {handle: readBrokerConfig});
	router.on('GET', '/troupe/v1/artifacts/:hex', {handle: findArtifact});
	router.on('PUT', '/troupe/v1/artifacts/:hex', {handle: uploadArtifact});
	router.on('GET', '/troupe/v1/nodes/:node/artifacts/:hex', {handle: fetchArtifact});
	router.on('GET', '/troupe/v1/nodes/:node/secrets/:namespace/:name', {handle: fetchSecret});
	router.on('GET', '/troupe/v1/nodes/:node/certificates/:namespace/:name', {handle: fetchCertificate});
	router.on('GET', tokensPath, {handle: listTokens});
	router.on('POST', tokensPath, {handle: createToken});
	router.on('DELETE', `${tokensPath}/:name`, {handle: deleteToken});
	router.on('POST', joinPath, {handle: join});
	for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
		router.on(method, '/functions/:namespace/:name', {handle: invoke, resource: invokeResource});
		router.on(method, '/functions/:namespace/:name/*', {handle: invoke, resource: invokeResource});
		router.on(method, routedCallPath(':node', ':namespace', ':name', '/*'), {handle: invokeRouted, resource: invokeResource});
	}
}

function addKind(router: Router<Route>, kind: KindDefinition): void {
	const root = apiRootOf(kind);
	const collection = kind.namespaced ? `${root}/namespaces/:namespace/${kind.plural}` : `${root}/${kind.plural}`;
	const object = `${collection}/:name`;
	const at = (verb: Verb, subresource: Target['subresource'], handler: TargetHandler) => route(kind, verb, subresource, handler);

	router.on('GET', collection, listRoute(kind));
	if (kind.namespaced) router.on('GET', `${root}/${kind.plural}`, listRoute(kind));
	router.on('POST', collection, at('create', undefined, create));
	router.on('GET', object, at('get', undefined, read));
	router.on('PUT', object, at('update', undefined, replace));
	router.on('PATCH', object, at('patch', undefined, patch));
	router.on('DELETE', object, at('delete', undefined, remove));
	router.on('GET', `${object}/status`, at('get', 'status', read));
	router.on('PUT', `${object}/status`, at('update', 'status', replace));
	router.on('PATCH', `${object}/status`, at('patch', 'status', patch));
	if (kind.scalable) {
		router.on('GET', `${object}/scale`, at('get', 'scale', readScale));
		router.on('PUT', `${object}/scale`, at('update', 'scale', replaceScale));
		router.on('PATCH', `${object}/scale`, at('patch', 'scale', patchScale));
	}
	if (kind.kind === 'Pod') addPod(router, object, at);
	if (kind.kind === 'SlurmJob') {
		router.on('GET', `${object}/log`, at('get', 'log', readJobLog));
		router.on('GET', `${object}/artifacts/*`, at('get', 'artifacts', readArtifact));
	}
}

/** What a pod has beyond other kinds. To run something in it is a right to write, by whatever method it is asked. */
function addPod(
	router: Router<Route>,
	path: string,
	at: (verb: Verb, subresource: Target['subresource'], handler: TargetHandler) => Route,
): void {
	router.on('GET', `${path}/log`, at('get', 'log', readLog));
	router.on('POST', `${path}/eviction`, at('create', 'eviction', evict));
	router.on('POST', `${path}/retry`, at('create', 'retry', retry));
	for (const method of ['GET', 'POST'] as const) {
		router.on(method, `${path}/exec`, at('create', 'exec', exec));
		router.on(method, `${path}/attach`, at('create', 'attach', attach));
		router.on(method, `${path}/portforward`, at('create', 'portforward', portForward));
	}
}

function route(kind: KindDefinition, verb: Verb, subresource: Target['subresource'], handler: TargetHandler): Route {
	const targetOf = ({params}: Exchange): Target => ({kind, namespace: params['namespace'], name: params['name'], subresource});
	return {
		targetOf,
		handle(backend, exchange) {
			const target = targetOf(exchange);
			requireRight(exchange.identity, verb, target);
			return handler(backend, exchange, target);
		},
	};
}

/** A collection is listed or, with `watch=true`, followed. */
function listRoute(kind: KindDefinition): Route {
	const targetOf = ({params}: Exchange): Target => ({kind, namespace: params['namespace'], name: undefined, subresource: undefined});
	return {
		targetOf,
		handle(backend, exchange) {
			const target = targetOf(exchange);
			const follows = flagOf(exchange.query, 'watch');
			requireRight(exchange.identity, follows ? 'watch' : 'list', target);
			return follows ? watch(backend, exchange, kind, target.namespace) : list(backend, exchange, kind, target.namespace);
		},
	};
}
