// Requests to the board's server.
import { byId } from "../page/dom.js";

const API = "api/v1/";

/** @param {any} body @param {number} status */
const failure = (body, status) => Object.assign(new Error(body.what || `the server returned ${status}`), { ...body, status });

function authorization() {
  const token = byId("token").value.trim();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
export async function request(path, options = {}) {
  const headers = new Headers(/** @type {any} */ (authorization()));
  const response = await fetch(API + path, { ...options, headers, credentials: "omit", cache: "no-store" });
  const body = await response.json();
  if (!response.ok) throw failure(body, response.status);
  return body;
}

// Send a form and report the bytes sent: `fetch` cannot.
/** @param {string} path @param {FormData} form @param {(sent: number, total: number) => void} progress @returns {Promise<any>} */
export const upload = (path, form, progress) =>
  new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", API + path);
    for (const [name, value] of Object.entries(authorization())) sending.setRequestHeader(name, value);
    sending.responseType = "json";
    sending.upload.addEventListener("progress", ({ loaded, total }) => progress(loaded, total));
    sending.addEventListener("load", () => {
      const body = sending.response ?? {};
      if (sending.status < 400) resolve(body);
      else reject(failure(body, sending.status));
    });
    sending.addEventListener("error", () => reject(new Error("the connection was lost")));
    sending.send(form);
  });
