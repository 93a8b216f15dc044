// What Kubernetes fills in when a probe or a hook does not say.

import type {HttpGetAction, Lifecycle, LifecycleHandler, Probe} from '../shapes/pod.js';

export const withProbeDefaults = (probe: Probe): Probe => ({
	...withHandlerDefaults(probe),
	timeoutSeconds: probe.timeoutSeconds ?? 1,
	periodSeconds: probe.periodSeconds ?? 10,
	successThreshold: probe.successThreshold ?? 1,
	failureThreshold: probe.failureThreshold ?? 3,
});

export const withLifecycleDefaults = ({postStart, preStop}: Lifecycle): Lifecycle => ({
	...(postStart === undefined ? {} : {postStart: withHandlerDefaults(postStart)}),
	...(preStop === undefined ? {} : {preStop: withHandlerDefaults(preStop)}),
});

function withHandlerDefaults<Handler extends LifecycleHandler>(handler: Handler): Handler {
	return handler.httpGet === undefined ? handler : {...handler, httpGet: withHttpDefaults(handler.httpGet)};
}

const withHttpDefaults = (action: HttpGetAction): HttpGetAction => ({
	...action,
	path: action.path === undefined || action.path === '' ? '/' : action.path,
	scheme: action.scheme ?? 'HTTP',
});
