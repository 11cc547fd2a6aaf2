// Draws a robot with three.js: its shapes once, its pose as often as it changes. z is up, as in MuJoCo.
import * as THREE from "three";
import { decode } from "connection";

// light comes from the upper left: every point is drawn where its ray meets the floor
const SHADOW = new THREE.Matrix4().set(1, 0, 0.4, 0, 0, 1, -0.25, 0, 0, 0, 0, 0.003, 0, 0, 0, 1);
// without a graphics card smooth edges would take half of the time
const probe = document.createElement("canvas").getContext("webgl2"), asked = probe?.getExtension("WEBGL_debug_renderer_info");
const smooth = !/swiftshader|llvmpipe|basic render/i.test(asked && probe.getParameter(asked.UNMASKED_RENDERER_WEBGL));
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const turn = (object, [w, x, y, z]) => object.quaternion.set(x, y, z, w);

export class Stage {
  constructor(canvas, onLeg) {
    this.canvas = canvas;
    [this.slow, this.fineness] = [0, 1];
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: smooth }); // throws without WebGL
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 300);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enablePan: false, maxPolarAngle: 1.5, keyRotateSpeed: 12 });
    this.controls.listenToKeyEvents(canvas); // with shift
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.sun = new THREE.DirectionalLight("#fff", 2.0);
    this.sun.position.set(-0.4, 0.25, 1);
    this.scene.add(this.sun, new THREE.HemisphereLight("#fff", "#888", 1.6));
    canvas.addEventListener("pointerdown", (event) => { this.pressed = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      const moved = Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]);
      const leg = moved < 4 && this.legAt(event);
      if (leg) onLeg(leg);
    });
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  setRobot(about) {
    if (about === this.about) return;
    const keepCamera = this.about && Math.abs(this.about.radius / about.radius - 1) < 0.5;
    this.about = about;
    this.world?.removeFromParent().traverse((part) => part.geometry?.dispose());
    this.world = new THREE.Group();
    const shade = new THREE.Group(), flat = new THREE.MeshBasicMaterial({ color: color("--shadow") });
    shade.matrix.copy(SHADOW);
    shade.matrixAutoUpdate = false;
    const groups = () => Array.from({ length: about.bodies }, () => new THREE.Group());
    [this.bodies, this.shades] = [this.world, shade].map((parent) => parent.add(...groups()).children.slice());
    [this.floor, this.meshes] = [null, []];
    let level = true;
    for (const geom of about.geoms) {
      if (geom.kind === "hfield") level = false;
      if (geom.kind === "plane") { level = Math.abs(geom.quat[0]) > 0.9999; this.addFloor(geom); continue; }
      const mesh = new THREE.Mesh(this.shape(geom), this.material(geom));
      mesh.position.set(...geom.pos);
      turn(mesh, geom.quat);
      if (geom.kind === "ellipsoid") mesh.scale.set(...geom.size);
      mesh.userData.leg = geom.leg;
      this.bodies[geom.body].add(mesh);
      this.meshes.push(mesh);
      if (geom.body > 0 && geom.rgba[3] > 0.5) this.shades[geom.body].add(Object.assign(mesh.clone(), { material: flat }));
    }
    if (level) this.world.add(shade);
    this.scene.add(this.world);
    const sky = new THREE.Color(color("--floor")), far = about.radius;
    this.scene.background = sky;
    this.scene.fog = new THREE.Fog(sky, 3 * far, 11 * far);
    if (!keepCamera) {
      this.controls.target.set(0, 0, 0.45 * far);
      this.camera.position.set(1.3 * far, -2.8 * far, 1.6 * far);
    }
    this.dirty = true;
  }

  shape({ kind, size: [a, b, c], mesh }) {
    if (kind === "box") return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    if (kind === "capsule") return new THREE.CapsuleGeometry(a, 2 * b, 5, 14).rotateX(Math.PI / 2);
    if (kind === "cylinder") return new THREE.CylinderGeometry(a, a, 2 * b, 20).rotateX(Math.PI / 2);
    if (mesh) {
      const { vertices, faces } = this.about.meshes[mesh];
      const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(decode(vertices), 3));
      geometry.setIndex(new THREE.BufferAttribute(decode(faces, Uint32Array), 1));
      geometry.computeVertexNormals();
      return geometry;
    }
    return new THREE.SphereGeometry(kind === "ellipsoid" ? 1 : a, 20, 14);
  }

  material({ mesh, rgba: [r, g, b, a] }) {
    const paint = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
    return new THREE.MeshLambertMaterial({ color: paint, opacity: a, transparent: a < 1, flatShading: Boolean(mesh) });
  }

  addFloor(geom) {
    const cell = this.cell = this.about.radius < 0.6 ? 0.25 : 1;
    this.floor = new THREE.Group();
    this.floor.position.set(...geom.pos);
    turn(this.floor, geom.quat);
    const ends = [];
    for (let i = -14; i <= 14; i++) { // short pieces: software renderers lose lines that end behind the camera
      for (let j = -14; j < 14; j++) ends.push(i, j, 0, i, j + 1, 0, j, i, 0, j + 1, i, 0);
    }
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(ends, 3));
    this.lines = new THREE.LineSegments(geometry.scale(cell, cell, 1), new THREE.LineBasicMaterial({ color: color("--grid") }));
    this.floor.add(this.lines);
    this.world.add(this.floor);
  }

  pose(poses, row, next, mix) {
    const from = new THREE.Quaternion(), to = new THREE.Quaternion();
    for (let body = 0; body < this.about.bodies; body++) {
      const a = 7 * (row * this.about.bodies + body), b = 7 * (next * this.about.bodies + body);
      from.set(poses[a + 4], poses[a + 5], poses[a + 6], poses[a + 3]);
      from.slerp(to.set(poses[b + 4], poses[b + 5], poses[b + 6], poses[b + 3]), mix);
      for (const group of [this.bodies[body], this.shades[body]]) {
        group.position.set(...[0, 1, 2].map((i) => poses[a + i] + mix * (poses[b + i] - poses[a + i])));
        group.quaternion.copy(from);
      }
    }
    this.follow(this.bodies[this.about.torso].position);
    this.dirty = true;
  }

  follow(torso) {
    const shift = torso.clone().sub(this.controls.target);
    shift.z = Math.abs(shift.z) > 2 * this.about.radius ? shift.z : 0;
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    if (!this.floor) return;
    const here = this.floor.worldToLocal(torso.clone());
    this.lines.position.set(Math.round(here.x / this.cell) * this.cell, Math.round(here.y / this.cell) * this.cell, 0);
  }

  legAt(event) {
    const box = this.canvas.getBoundingClientRect(), ray = new THREE.Raycaster();
    const place = new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
    ray.setFromCamera(place, this.camera);
    return ray.intersectObjects(this.meshes, false)[0]?.object.userData.leg;
  }

  // Where drawing takes long, as without a graphics card, fewer pixels are drawn.
  slowDown(seconds) {
    this.slow = seconds > 0.045 ? this.slow + 1 : Math.max(0, this.slow - 1);
    if (this.slow < 12 || this.fineness < 0.5) return;
    [this.slow, this.fineness] = [0, 0.7 * this.fineness];
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 1.5) * this.fineness);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  draw(seconds) {
    if (!this.dirty || !this.world) return false;
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
    this.slowDown(seconds);
    return true;
  }
}
