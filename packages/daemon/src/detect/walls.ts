/**
 * Answers that are no copy of the page although the server says 200: a login form, a check for robots, an error page in
 * HTML where JSON was. A page that is such a form of its own is left alone: what counts is that it turned into one.
 */
import type { Fault } from '../values/fault.ts';

/** Words that stand on interstitials of the large protection services and in their markup. */
const wallMarks: readonly RegExp[] = [
  /<title>\s*(just a moment|attention required|access denied|are you a robot|robot check|pardon our interruption|security check|please wait|one moment, please|ddos-guard|vercel security checkpoint|bot verification|human verification|verify you are human)/i,
  /(cf-chl-|cf_chl_|challenge-platform|__cf_chl|_Incapsula_Resource|px-captcha|perimeterx|captcha-delivery\.com|geo\.captcha|distil_r_captcha|sucuri_cloudproxy|ddos-guard|aws-waf-token|awswaf)/i,
];
const wallWords =
  /(verify(ing)? (that )?you are (a )?human|(prove|confirm) (that )?you('re| are) (not a robot|human)|unusual traffic from your|enable javascript and cookies to continue|checking (if the site connection is secure|your browser)|complete the (captcha|security check)|automated (access|requests|queries)|you have been blocked|are you a robot\?|bot detected|i('m| am) not a robot)/i;

/** An interstitial says little; an article about them says more. */
const wallTextMax = 2_500;

export function isWall(source: string, visible: string): boolean {
  if (visible.length > wallTextMax) return false;
  const head = source.length > 200_000 ? source.slice(0, 200_000) : source;
  return wallMarks.some((mark) => mark.test(head)) || wallWords.test(visible);
}

const password = /<input\b[^>]*\btype\s*=\s*["']?password\b/i;
const loginWords =
  /\b(log ?in|sign ?in|log ?on|anmelden|einloggen|se connecter|connexion|iniciar sesión|accedi|entrar|inloggen|logga in|ログイン|登录|登入|войти|zaloguj)/i;
const loginPath = /\/(log-?in|sign-?in|auth|sso|oauth2?|account\/login|users\/sign_in|wp-login\.php|session\/new)\b/i;
const loginTextMax = 4_000;
/** Nothing here asks for more of a page's text: what says this much is neither. */
export const faceTextMax = loginTextMax + 1;

export function hasPassword(source: string): boolean {
  return password.test(source);
}

/** A form that asks for a password where the page had none, or the address of a login page with little on it. */
export function isLogin(source: string, visible: string, url: string, had: boolean): boolean {
  if (had || visible.length > loginTextMax) return false;
  if (password.test(source)) return loginWords.test(visible) || loginWords.test(source.slice(0, 5_000));
  return loginPath.test(url) && loginWords.test(visible);
}

export const wallFault: Fault = {
  code: 'page-wall',
  sentence: 'The site answered with a check for robots instead of the page.',
};
export const loginFault: Fault = {
  code: 'page-login',
  sentence: 'The site answered with a login form instead of the page.',
};
export const notJsonFault: Fault = {
  code: 'page-not-json',
  sentence: 'The address gave JSON before and now answers with HTML.',
};
